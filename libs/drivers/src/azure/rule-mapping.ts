import { createHash } from 'node:crypto';
import type { SecurityRule } from '@azure/arm-network';
import {
  blocksOf,
  canonicalCidr,
  formatMark,
  parseMark,
  parseRuleKey,
  ruleKey,
  ruleSpecs,
  sharesTraffic,
  specialRangeIn,
  type ObservedRule,
  type OrderedRule,
  type OwnershipMark,
  type PortRange,
  type Protocol,
  type ResourceConfig,
  type RuleSpec,
} from '#rules';
import { portTexts, readPortTexts } from '../port-texts';
import type { writtenKeys } from '../written-keys';
import { priorityWindow } from './priorities';

const PROTOCOL_OF: Readonly<Record<Protocol, string>> = { tcp: 'Tcp', udp: 'Udp', icmp: 'Icmp', all: '*' };
/** ICMP for IPv6 is a protocol of its own. Written for IPv6 addresses; `Icmp` does not match their traffic. */
const ICMPV6 = 'Icmpv6';
const ANYWHERE = ['0.0.0.0/0', '::/0'];
/** An address of documentation: no traffic has it. */
const NO_SOURCE = '192.0.2.1/32';
const NO_TRAFFIC: RuleSpec = { address: NO_SOURCE, protocol: 'all', ports: [] };

/** The relevant fields of a security rule. */
export interface GroupRule {
  readonly name: string;
  readonly priority: number;
  readonly isInbound: boolean;
  readonly isDeny: boolean;
  /** undefined or null: another one than Drawbridge writes */
  readonly protocol: Protocol | undefined;
  readonly ports: readonly PortRange[] | null;
  /** `ruleKey` of each source address; empty when Drawbridge does not write rules of this kind */
  readonly keys: readonly string[];
  /** what it allows or denies to every destination in the group; empty when it applies to some of them */
  readonly traffic: readonly RuleSpec[];
  /** sources that no key shows: service tags */
  readonly namedSources: readonly string[];
  /** one of its sources is the service tag `Internet`: addresses outside the virtual network */
  readonly isForInternet: boolean;
  /** it allows exactly what its keys say, to every destination in the group */
  readonly isPlain: boolean;
  readonly state: 'settled' | 'updating' | 'failed';
  readonly mark: OwnershipMark | null;
}

export function securityRuleOf(spec: RuleSpec, mark: OwnershipMark, priority: number): SecurityRule {
  const ports = portTexts(spec);
  return {
    description: formatMark(mark),
    protocol: protocolText(spec),
    access: 'Allow',
    direction: 'Inbound',
    priority,
    sourceAddressPrefix: spec.address,
    sourcePortRange: '*',
    destinationAddressPrefix: '*',
    ...(ports.length > 1 ? { destinationPortRanges: ports } : { destinationPortRange: ports[0] ?? '*' }),
  };
}

/** The rule that takes the place of one that a lock keeps from being deleted: it admits no traffic, and keeps our mark. */
export const neutralRuleOf = (mark: OwnershipMark, priority: number): SecurityRule => ({
  ...securityRuleOf(NO_TRAFFIC, mark, priority),
  access: 'Deny',
});

/** Whether a rule is what `neutralRuleOf` writes, and Azure has finished writing it. */
export const isNeutral = (rule: GroupRule, deployment: string): boolean =>
  isOurs(rule, deployment) &&
  rule.isDeny &&
  rule.state === 'settled' &&
  rule.keys.length === 1 &&
  rule.keys[0] === ruleKey(NO_TRAFFIC);

const protocolText = ({ protocol, address }: RuleSpec): string =>
  protocol === 'icmp' && address.includes(':') ? ICMPV6 : PROTOCOL_OF[protocol];

/** The name of the rule for a RuleSpec: deterministic, so that writing it twice creates one rule. */
export function ruleName(spec: RuleSpec, deployment: string): string {
  const digest = createHash('sha256').update(ruleKey(spec)).digest('hex').slice(0, 32);
  return `drawbridge-${deployment}-${digest}`;
}

export const hasOurName = ({ name }: GroupRule, deployment: string): boolean =>
  new RegExp(`^drawbridge-${deployment}-[0-9a-f]{32}(-\\d+)?$`).test(name);

/** Whether a rule still allows what this deployment wrote: its name is a hash of that. */
export function isAsWritten({ name, keys }: GroupRule, deployment: string): boolean {
  const [key] = keys;
  const written = key === undefined ? null : ruleName(parseRuleKey(key), deployment);
  return keys.length === 1 && written !== null && (name === written || name.startsWith(`${written}-`));
}

/** Maps a rule of a group. @returns null when it has no name or priority */
export function groupRule(rule: SecurityRule): GroupRule | null {
  const { name, priority, access, direction } = rule;
  if (!name || priority === undefined || priority === null) return null;
  const isDeny = access?.toLowerCase() !== 'allow';
  const keys = keysOf(rule);
  const state = STATE_OF[rule.provisioningState?.toLowerCase() ?? 'succeeded'] ?? 'updating';
  return {
    name,
    priority,
    isInbound: direction?.toLowerCase() === 'inbound',
    isDeny,
    protocol: protocolOf(rule.protocol),
    ports: destinationPortsOf(rule),
    keys,
    traffic: trafficOf(rule, isDeny),
    namedSources: sourcePrefixesOf(rule).filter(
      (source) => source !== undefined && source !== '' && !isAny(source) && !canonicalCidr(source),
    ) as string[],
    isForInternet: sourcePrefixesOf(rule).some((source) => isNamed(source, 'Internet')),
    isPlain: !isDeny && appliesToWholeGroup(rule) && keys.every((key) => isOfFamily(rule.protocol, key)),
    state,
    mark: parseMark(rule.description),
  };
}

const STATE_OF: Readonly<Record<string, GroupRule['state']>> = {
  succeeded: 'settled',
  failed: 'failed',
  canceled: 'failed',
};

/**
 * Maps the rules of a group. A rule is present but not in force while Azure is writing it, when it was edited so that
 * it no longer allows what its key says, and, without our mark, when a denying rule may precede it.
 * @param deployment name of this deployment: marks with this name are ours
 * @param writtenKey see `writtenKeys`
 */
export function observedRules(
  rules: readonly GroupRule[],
  deployment: string,
  writtenKey: ReturnType<typeof writtenKeys> = () => undefined,
): ObservedRule[] {
  const kept = rules.filter((rule) => !isNeutral(rule, deployment));
  const blockOf = groupBlocks(rules);
  const denials = kept.filter(({ isDeny, isInbound }) => isDeny && isInbound);
  const firstDeny = Math.min(...denials.map(({ priority }) => priority));
  return kept.flatMap((rule) => {
    const ours = isOurs(rule, deployment);
    const written = writtenKey(rule.name, ours ? rule.mark!.ruleId : null);
    const difference = written === undefined || rule.state !== 'settled' ? null : differenceOf(rule);
    if (!rule.isInbound && written === undefined) return [];
    // An unmanaged rule counts only if no denying rule may precede it.
    const isEffective = ours || rule.priority <= firstDeny;
    const inForce = rule.isInbound && rule.isPlain && rule.state === 'settled' && isEffective;
    // A rule of ours that lost its mark is recognized by its name.
    const isKnown = ours || written !== undefined;
    if (!isKnown && !inForce && (rule.isDeny || !hasOurName(rule, deployment))) return [];
    const keys = rule.isInbound ? rule.keys : [];
    return (keys.length === 0 && written !== undefined ? [written] : keys).map((key) => {
      const block = inForce ? blockOf(parseRuleKey(key), rule.priority) : null;
      return {
        key,
        providerRuleId: rule.name,
        ownRuleId: ours ? rule.mark!.ruleId : null,
        ...(!inForce && { inForce: false as const }),
        ...(block !== null && { noEffect: block }),
        ...(difference !== null && { difference }),
      };
    });
  });
}

/** How a rule differs from what we write, where its keys do not show it, as a phrase; null: it does not. */
function differenceOf({ isInbound, isDeny, isPlain, keys, namedSources }: GroupRule): string | null {
  if (!isInbound || isDeny) return 'it lets nothing in';
  if (namedSources.length > 0) return `it lets in ${namedSources.join(', ')}`;
  if (keys.length === 0) return 'it lets in other traffic';
  return isPlain ? null : 'it has other conditions';
}

/** Finds what blocks traffic that a rule with this priority would let in. */
function groupBlocks(rules: readonly GroupRule[]): (spec: RuleSpec, priority: number) => string | null {
  if (!rules.some(({ isDeny, isInbound }) => isDeny && isInbound)) return () => null;
  const blockOf = blocksOf(accessRules(rules));
  const forInternet = new Set(rules.filter((rule) => rule.isForInternet).map(({ name }) => name));
  return (spec, priority) => {
    // private addresses are those of the virtual network and its neighbours
    const isPublic = forInternet.size === 0 || specialRangeIn(spec.address, false) === null;
    return blockOf(spec, (rule) => rule.priority < priority && (isPublic || !forInternet.has(rule.name)));
  };
}

/**
 * What the group's inbound rules allow and deny to everything in the group, in the order in which Azure evaluates them.
 * Sessions still restrict something where a rule lets everybody in to some destinations: it does not count, and neither
 * does a denial for some. A denial counts when it is in force; an allowance that is being written, or that failed, counts
 * too, because it may be.
 */
export const accessRules = (rules: readonly GroupRule[]): OrderedRule[] =>
  rules
    .filter(({ isInbound, isDeny, state }) => isInbound && (!isDeny || state === 'settled'))
    .toSorted((one, other) => one.priority - other.priority)
    .flatMap(({ traffic, isDeny, name, priority }) =>
      traffic.map((spec) => ({ ...spec, isDenial: isDeny, name, priority })),
    );

/** The names of denials before the rules of a resource that concern its ports, from and to whatever addresses. */
export function denialsBefore(
  rules: readonly GroupRule[],
  config: ResourceConfig,
  deployment: string,
): string[] {
  const { from } = priorityWindow(config);
  const [own] = ruleSpecs('', config, 'many');
  return rules
    .filter((rule) => rule.isInbound && rule.isDeny && rule.priority < from && !isNeutral(rule, deployment))
    .filter(({ protocol, ports }) => !protocol || !ports || sharesTraffic(own!, { protocol, ports }))
    .map(({ name }) => name);
}

export const isOurs = ({ mark }: GroupRule, deployment: string): boolean => mark?.deployment === deployment;

function keysOf(rule: SecurityRule): string[] {
  const protocol = protocolOf(rule.protocol);
  const ports = destinationPortsOf(rule);
  if (!protocol || !ports) return [];
  const isPortless = protocol === 'all' || protocol === 'icmp';
  if (isPortless && ports.length > 0) return [];
  return sourcesOf(rule).map((address) => ruleKey({ address, protocol, ports }));
}

function trafficOf(rule: SecurityRule, isDeny: boolean): RuleSpec[] {
  const protocol = protocolOf(rule.protocol);
  const ports = destinationPortsOf(rule);
  const isForGroups = (rule.destinationApplicationSecurityGroups ?? []).length > 0;
  // Clients choose their source port: an allowance from some ports lets everybody in, a denial from some has no effect.
  const isForSomePorts = isDeny && !isFromEveryPort(rule);
  if (!protocol || !ports || isForGroups || isForSomePorts) return [];
  // Of any protocol, ports restrict those that have ports.
  const protocols: Protocol[] = protocol === 'all' && ports.length > 0 ? ['tcp', 'udp'] : [protocol];
  return sourcesOf(rule)
    .filter((address) => isOfFamily(rule.protocol, address) && isForEveryDestination(rule, address))
    .flatMap((address) => protocols.map((one) => ({ address, protocol: one, ports })));
}

/** @param source of the IP version that is meant. Inbound traffic goes to addresses of the virtual network. */
const isForEveryDestination = (rule: SecurityRule, source: string): boolean =>
  destinationsOf(rule).some(
    (prefix) =>
      isNamed(prefix, '*') ||
      isNamed(prefix, 'VirtualNetwork') ||
      prefix === (source.includes(':') ? '::/0' : '0.0.0.0/0'),
  );

const sourcePrefixesOf = (rule: SecurityRule): (string | undefined)[] => [
  rule.sourceAddressPrefix,
  ...(rule.sourceAddressPrefixes ?? []),
];

const sourcesOf = (rule: SecurityRule): string[] =>
  sourcePrefixesOf(rule).flatMap((source) =>
    isAny(source)
      ? ANYWHERE.filter((address) => isOfFamily(rule.protocol, address))
      : (canonicalCidr(source ?? '')?.cidr ?? []),
  );

const protocolOf = (text: string | undefined): Protocol | undefined =>
  isNamed(text, ICMPV6)
    ? 'icmp'
    : (Object.entries(PROTOCOL_OF).find(([, name]) => isNamed(text, name))?.[0] as Protocol | undefined);

const isNamed = (text: string | undefined, name: string): boolean =>
  text?.toLowerCase() === name.toLowerCase();

/** Whether traffic of the address can have the protocol: ICMP has one for each IP version. */
const isOfFamily = (protocol: string | undefined, address: string): boolean =>
  isNamed(protocol, PROTOCOL_OF.icmp)
    ? !address.includes(':')
    : !isNamed(protocol, ICMPV6) || address.includes(':');

/** As `readPortTexts`; null also when there is no text. */
function portsOf(texts: readonly (string | null | undefined)[]): PortRange[] | null {
  const given = texts.flatMap((text) => text || []);
  if (given.includes('*')) return [];
  return given.length === 0 ? null : readPortTexts(given);
}

const isAny = (text: string | undefined): boolean => /^(\*|any|internet)$/i.test(text ?? '');

function appliesToWholeGroup(rule: SecurityRule): boolean {
  const groups = [
    ...(rule.sourceApplicationSecurityGroups ?? []),
    ...(rule.destinationApplicationSecurityGroups ?? []),
  ];
  const isForAll = destinationsOf(rule).some((prefix) => prefix === '*');
  return isFromEveryPort(rule) && groups.length === 0 && isForAll;
}

const isFromEveryPort = (rule: SecurityRule): boolean =>
  portsOf([rule.sourcePortRange, ...(rule.sourcePortRanges ?? [])])?.length === 0;

const destinationPortsOf = (rule: SecurityRule): PortRange[] | null =>
  portsOf([rule.destinationPortRange, ...(rule.destinationPortRanges ?? [])]);

const destinationsOf = (rule: SecurityRule): string[] =>
  [rule.destinationAddressPrefix, ...(rule.destinationAddressPrefixes ?? [])].filter(
    (prefix) => prefix !== undefined,
  );
