import { createHash } from 'node:crypto';
import {
  canonicalCidr,
  formatMark,
  parseMark,
  ruleKey,
  type ObservedRule,
  type OwnershipMark,
  type PortRange,
  type RuleSpec,
} from '#rules';
import { DriverError } from '../driver-error';
import { protocolOf } from '../ip-protocol';

/** A target of resourceType FIREWALL. */
export interface TaggedNetwork {
  readonly project: string;
  readonly network: string;
  /** sorted; empty: every instance of the network */
  readonly targetTags: readonly string[];
}

/** The fields of Compute's Firewall that tell who is let in. Everything may be missing in an answer. */
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
  readonly allowed?: readonly { IPProtocol?: string | null; ports?: readonly string[] | null }[] | null;
}

/** A Firewall as it is sent. */
export interface NewFirewall {
  readonly name: string;
  readonly description: string;
  readonly network: string;
  readonly direction: 'INGRESS';
  readonly priority: number;
  readonly sourceRanges: string[];
  readonly targetTags: string[];
  readonly allowed: { IPProtocol: string; ports: string[] }[];
}

const PLACE = /^projects\/([^/]+)\/global\/networks\/([^/?]+)(?:\?targetTags=(.+))?$/;
const PRIORITY = 1000;
const LAST_PORT = 65_535;

/** Reads what `place` of the facts wrote. @throws DriverError `invalid` */
export function readTaggedNetwork(identifier: string): TaggedNetwork {
  const [, project, network, tags] = PLACE.exec(identifier) ?? [];
  if (!project || !network) throw new DriverError('invalid', `${identifier} names no VPC network`);
  return { project, network, targetTags: tags?.split(',') ?? [] };
}

export const networkPath = ({ project, network }: TaggedNetwork): string =>
  `projects/${project}/global/networks/${network}`;

/**
 * The firewall rule that makes an opening. Its name says which opening of which object it is, so that a second one of
 * the same cannot be made.
 */
export function firewallOf(place: TaggedNetwork, spec: RuleSpec, mark: OwnershipMark): NewFirewall {
  return {
    name: nameOf(place, spec, mark.deployment),
    description: formatMark(mark),
    network: networkPath(place),
    direction: 'INGRESS',
    priority: PRIORITY,
    // Never empty: Compute takes an empty list for everyone.
    sourceRanges: [spec.address],
    targetTags: [...place.targetTags],
    allowed: [{ IPProtocol: protocolText(spec), ports: portTexts(spec) }],
  };
}

function nameOf(place: TaggedNetwork, spec: RuleSpec, deployment: string): string {
  const parts = [deployment, networkPath(place), place.targetTags, ruleKey(spec)];
  return `drawbridge-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`;
}

/** One creation of a rule: another one of the same name has another number. */
export const providerRuleId = (name: string, id: string): string => `${name}#${id}`;

/** Reads what `providerRuleId` wrote. */
export function readProviderRuleId(text: string): { name: string; id: string } {
  const [name = '', id = ''] = text.split('#');
  return { name, id };
}

/**
 * The openings that one firewall rule makes in an object.
 * @param deployment whose marks are ours
 */
export function observedRules(rule: FirewallRule, place: TaggedNetwork, deployment: string): ObservedRule[] {
  if (!letsInto(rule, place) || !rule.name) return [];
  const mark = parseMark(rule.description);
  const ownRuleId = mark?.deployment === deployment ? mark.ruleId : null;
  const found = providerRuleId(rule.name, String(rule.id));
  return openingsOf(rule).map((spec) => ({ key: ruleKey(spec), providerRuleId: found, ownRuleId }));
}

/** Whether a rule makes exactly this opening, and no other. */
export function makesOnly(rule: FirewallRule, place: TaggedNetwork, spec: RuleSpec): boolean {
  const openings = letsInto(rule, place) ? openingsOf(rule) : [];
  const isWhole = rule.sourceRanges?.length === 1 && rule.allowed?.length === 1;
  return isWhole && openings.length === 1 && openings.every((opening) => ruleKey(opening) === ruleKey(spec));
}

/** Enabled, inbound, to these instances of the network as a whole. */
function letsInto(rule: FirewallRule, { network, targetTags }: TaggedNetwork): boolean {
  const tags = (rule.targetTags ?? []).toSorted();
  return (
    rule.direction === 'INGRESS' &&
    rule.disabled !== true &&
    rule.network?.split('/').at(-1) === network &&
    (rule.destinationRanges ?? []).length === 0 &&
    (rule.targetServiceAccounts ?? []).length === 0 &&
    tags.join(',') === targetTags.join(',')
  );
}

function openingsOf({ sourceRanges, allowed }: FirewallRule): RuleSpec[] {
  return (sourceRanges ?? []).flatMap((range) => {
    const cidr = canonicalCidr(range);
    if (!cidr) return [];
    return (allowed ?? []).flatMap(({ IPProtocol, ports }) => {
      const protocol = IPProtocol === 'all' ? 'all' : protocolOf(IPProtocol ?? '', cidr.version);
      const read = protocol && portsOf(ports ?? []);
      return protocol && read ? [{ address: cidr.cidr, protocol, ports: read }] : [];
    });
  });
}

/** ICMP for IPv6 has a number only. */
function protocolText({ address, protocol }: RuleSpec): string {
  return protocol === 'icmp' && address.includes(':') ? '58' : protocol;
}

const portTexts = ({ ports }: RuleSpec): string[] =>
  ports.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));

/** In ascending order; null when one is no port. */
function portsOf(texts: readonly string[]): PortRange[] | null {
  const ranges = texts.map((text) => {
    const [from = Number.NaN, to = from] = text.split('-').map(Number);
    return { from, to };
  });
  if (ranges.some(({ from, to }) => !(from >= 0 && to >= from && to <= LAST_PORT))) return null;
  const isEvery = ranges.some(({ from, to }) => from === 0 && to === LAST_PORT);
  return isEvery ? [] : ranges.toSorted((a, b) => a.from - b.from);
}
