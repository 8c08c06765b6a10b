import { createHash } from 'node:crypto';
import {
  canonicalCidr,
  formatMark,
  parseMark,
  ruleKey,
  type ObservedRule,
  type OwnershipMark,
  type RuleSpec,
} from '#rules';
import { DriverError } from '../driver-error';
import { protocolOf } from '../ip-protocol';
import { portTexts, readPortTexts } from '../port-texts';
import type { writtenKeys } from '../written-keys';
import { DEFAULT_PRIORITY } from './gcp.facts';

/** A target of resourceType FIREWALL. */
export interface TaggedNetwork {
  readonly project: string;
  readonly network: string;
  /** sorted; empty with `targetServiceAccounts`: every instance of the network */
  readonly targetTags: readonly string[];
  readonly targetServiceAccounts: readonly string[];
  /** of the rules */
  readonly priority: number;
}

/** The relevant fields of Compute's Firewall, all optional in a response. */
export interface FirewallRule {
  readonly id?: unknown;
  readonly name?: string | null;
  readonly network?: string | null;
  readonly direction?: string | null;
  readonly disabled?: boolean | null;
  readonly description?: string | null;
  readonly sourceRanges?: readonly string[] | null;
  readonly destinationRanges?: readonly string[] | null;
  readonly targetTags?: readonly string[] | null;
  readonly targetServiceAccounts?: readonly string[] | null;
  readonly allowed?: readonly FirewallTraffic[] | null;
  readonly denied?: readonly FirewallTraffic[] | null;
  readonly priority?: number | null;
  readonly sourceTags?: readonly string[] | null;
  readonly sourceServiceAccounts?: readonly string[] | null;
}

/** A protocol and its ports; no ports: all of them. */
export interface FirewallTraffic {
  readonly IPProtocol?: string | null;
  readonly ports?: readonly string[] | null;
}

/** The body of a firewall write. */
export interface NewFirewall {
  readonly name: string;
  readonly description: string;
  readonly network: string;
  readonly direction: 'INGRESS';
  readonly priority: number;
  readonly sourceRanges: string[];
  readonly targetTags: string[];
  readonly targetServiceAccounts?: string[];
  readonly allowed: { IPProtocol: string; ports: string[] }[];
}

const IDENTIFIER = /^projects\/([^/]+)\/global\/networks\/([^/?]+)(?:\?(.+))?$/;

/** Parses an identifier from `nameTarget` of the facts. @throws DriverError `invalid` */
export function readTaggedNetwork(identifier: string): TaggedNetwork {
  const [, project, network, tail = ''] = IDENTIFIER.exec(identifier) ?? [];
  if (!project || !network) throw new DriverError('invalid', `${identifier} names no VPC network`);
  const parts = new Map(tail.split('&').map((part) => part.split('=', 2) as [string, string | undefined]));
  return {
    project,
    network,
    targetTags: parts.get('targetTags')?.split(',') ?? [],
    targetServiceAccounts: parts.get('targetServiceAccounts')?.split(',') ?? [],
    priority: Number(parts.get('priority') ?? DEFAULT_PRIORITY),
  };
}

const networkPath = ({ project, network }: TaggedNetwork): string =>
  `projects/${project}/global/networks/${network}`;

/**
 * The firewall rule for a RuleSpec. Its name is a hash of target and spec, so that a duplicate cannot be created.
 */
export function firewallOf(target: TaggedNetwork, spec: RuleSpec, mark: OwnershipMark): NewFirewall {
  return {
    name: nameOf(target, spec, mark.deployment),
    description: formatMark(mark),
    network: networkPath(target),
    direction: 'INGRESS',
    priority: target.priority,
    // Never empty: Compute treats an empty list as any source.
    sourceRanges: [spec.address],
    targetTags: [...target.targetTags],
    // Compute refuses a rule with both
    ...(target.targetServiceAccounts.length > 0 && {
      targetServiceAccounts: [...target.targetServiceAccounts],
    }),
    allowed: [{ IPProtocol: protocolText(spec), ports: portTexts(spec) }],
  };
}

function nameOf(target: TaggedNetwork, spec: RuleSpec, deployment: string): string {
  const { targetTags, targetServiceAccounts, priority } = target;
  const parts = [deployment, networkPath(target), targetTags, ruleKey(spec)];
  // rules of earlier releases keep their names
  const isPlain = targetServiceAccounts.length === 0 && priority === DEFAULT_PRIORITY;
  if (!isPlain) parts.push(targetServiceAccounts, String(priority));
  return `drawbridge-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`;
}

/** Name and numeric id: a rule that is created again with the same name has another numeric id. */
export const providerRuleId = (name: string, id: string): string => `${name}#${id}`;

/** Parses the result of `providerRuleId`. */
export function readProviderRuleId(text: string): { name: string; id: string } {
  const [name = '', id = ''] = text.split('#');
  return { name, id };
}

/**
 * Maps one firewall rule of a target; one ObservedRule per range and protocol.
 * @param deployment name of this deployment: marks with this name are ours
 * @param writtenKey see `writtenKeys`
 */
export function observedRules(
  rule: FirewallRule,
  target: TaggedNetwork,
  deployment: string,
  writtenKey: ReturnType<typeof writtenKeys> = () => undefined,
): ObservedRule[] {
  if (!rule.name || rule.network?.split('/').at(-1) !== target.network) return [];
  const mark = parseMark(rule.description);
  const ownRuleId = mark?.deployment === deployment ? mark.ruleId : null;
  const found = { providerRuleId: providerRuleId(rule.name, String(rule.id)), ownRuleId };
  const written = writtenKey(found.providerRuleId, ownRuleId);
  const difference = written === undefined ? null : differenceOf(rule, target);
  const shown = difference === null ? {} : { difference };
  const specs = appliesTo(rule, target) ? specsOf(rule) : [];
  if (specs.length === 0 && written !== undefined)
    return [{ key: written, ...found, inForce: false, difference: difference ?? 'it lets in other traffic' }];
  return specs.map((spec) => ({ key: ruleKey(spec), ...found, ...shown }));
}

/** How a rule of a target differs from what we write, where its keys do not show it, as a phrase; null: it does not. */
function differenceOf(rule: FirewallRule, target: TaggedNetwork): string | null {
  const { sourceRanges, sourceTags, sourceServiceAccounts, allowed, denied } = rule;
  const sources = [...(sourceTags ?? []), ...(sourceServiceAccounts ?? [])];
  if (rule.disabled === true) return 'it is disabled';
  if (rule.direction !== 'INGRESS' || (denied ?? []).length > 0) return 'it lets nothing in';
  if ((rule.priority ?? DEFAULT_PRIORITY) !== target.priority) return `its priority is ${rule.priority}`;
  if (!isForTarget(rule, target)) {
    const targets = [...(rule.targetTags ?? []), ...(rule.targetServiceAccounts ?? [])];
    return `it is for ${targets.length === 0 ? 'every instance' : targets.join(', ')}`;
  }
  if ((rule.destinationRanges ?? []).length > 0) return 'it is for some destinations';
  if (sources.length > 0) return `it lets in instances with ${sources.join(', ')} too`;
  if ((sourceRanges ?? []).length === 0) return 'it lets in every source';
  const isRead = specsOf(rule).length === sourceRanges!.length * (allowed ?? []).length;
  return isRead ? null : 'it lets in other traffic too';
}

/** Whether a rule is exactly what we write for this RuleSpec. */
export function isAsWritten(rule: FirewallRule, target: TaggedNetwork, spec: RuleSpec): boolean {
  const specs = appliesTo(rule, target) && differenceOf(rule, target) === null ? specsOf(rule) : [];
  return specs.length === 1 && specs.every((one) => ruleKey(one) === ruleKey(spec));
}

/** Whether a rule is enabled, inbound, and applies to all instances of the target. */
function appliesTo(rule: FirewallRule, target: TaggedNetwork): boolean {
  return (
    rule.direction === 'INGRESS' &&
    rule.disabled !== true &&
    rule.network?.split('/').at(-1) === target.network &&
    (rule.destinationRanges ?? []).length === 0 &&
    (rule.priority ?? DEFAULT_PRIORITY) === target.priority &&
    isForTarget(rule, target)
  );
}

function isForTarget(rule: FirewallRule, { targetTags, targetServiceAccounts }: TaggedNetwork): boolean {
  const tags = (rule.targetTags ?? []).toSorted();
  const accounts = (rule.targetServiceAccounts ?? []).toSorted();
  return accounts.join(',') === targetServiceAccounts.join(',') && tags.join(',') === targetTags.join(',');
}

const specsOf = ({ sourceRanges, allowed }: FirewallRule): RuleSpec[] =>
  trafficFrom(sourceRanges ?? [], allowed ?? []);

/** One RuleSpec for each range and protocol; without those that our rules do not support. */
export function trafficFrom(sources: readonly string[], traffic: readonly FirewallTraffic[]): RuleSpec[] {
  return sources.flatMap((range) => {
    const cidr = canonicalCidr(range);
    if (!cidr) return [];
    return traffic.flatMap(({ IPProtocol, ports }) => {
      const protocol = IPProtocol === 'all' ? 'all' : protocolOf(IPProtocol ?? '', cidr.version);
      const read = protocol && readPortTexts(ports ?? []);
      return protocol && read ? [{ address: cidr.cidr, protocol, ports: read }] : [];
    });
  });
}

/** ICMP for IPv6 has no name, only a number. */
function protocolText({ address, protocol }: RuleSpec): string {
  return protocol === 'icmp' && address.includes(':') ? '58' : protocol;
}
