import { isEverybody } from './special-ranges';
import {
  portsText,
  ruleSpecs,
  type PortRange,
  type Protocol,
  type RuleSpec,
  type TrafficConfig,
} from './rule-spec';

export const EVERY_PORT: PortRange = { from: 0, to: 65_535 };

const EVERYBODY = [
  { from: '0.0.0.0/0', version: 4 },
  { from: '::/0', version: 6 },
] as const;

/** `all` is open when each of these is; its own rules are the only ones for the protocols that have no name here. */
export const PROTOCOLS_OF: Readonly<Record<Protocol, readonly Protocol[]>> = {
  tcp: ['tcp'],
  udp: ['udp'],
  icmp: ['icmp'],
  all: ['tcp', 'udp', 'icmp', 'all'],
};

/** A rule of a target. It lets its traffic in, or keeps it out. */
export interface AccessRule extends RuleSpec {
  readonly isDenial?: boolean;
}

/** What every address of an IP version may reach already. */
export interface OpenAccess {
  /** for messages: `tcp 22`, or `tcp` for every port */
  readonly traffic: string;
  readonly from: (typeof EVERYBODY)[number]['from'];
}

/**
 * The first part of a resource's traffic that rules let every address of one IP version reach: rules for single addresses
 * restrict nothing there. Several rules that let everybody in together count too, such as two halves of all addresses.
 * A rule has no effect on traffic that denials before it keep out for everybody. A denial for some addresses hides nothing:
 * the rule after it lets in all others.
 * @param config of the resource; all of its ports have to be open for a config without ports
 * @param parts of the target, all of which have to be open: the rules in force on each, in the order in which they are
 *   evaluated; addresses are canonical CIDRs
 */
export function openToEveryone(
  config: TrafficConfig,
  ...parts: readonly (readonly AccessRule[])[]
): OpenAccess | null {
  if (parts.length === 0) return null;
  for (const { protocol, ports } of ruleSpecs('', config, 'one')) {
    const range = ports[0] ?? EVERY_PORT;
    for (const { from, version } of EVERYBODY) {
      const isOpen = parts.every((rules) => {
        const family = rules.filter(({ address }) => address.includes(':') === (version === 6));
        return PROTOCOLS_OF[protocol].every((one) => isRangeOpen(family, one, range, version));
      });
      if (isOpen) return { traffic: ports.length === 0 ? protocol : `${protocol} ${portsText(ports)}`, from };
    }
  }
  return null;
}

/** @param rules of the IP version */
function isRangeOpen(
  rules: readonly AccessRule[],
  protocol: Protocol,
  range: PortRange,
  version: 4 | 6,
): boolean {
  const matching = matchingRules(rules, protocol);
  return piecesOf(range, matching).every((port) => {
    const allowing = effectiveRules(portRules(matching, port), version).filter(({ isDenial }) => !isDenial);
    return isEverybody(addressesOf(allowing), version);
  });
}

export const matchingRules = <Rule extends RuleSpec>(rules: readonly Rule[], protocol: Protocol): Rule[] =>
  rules.filter((rule) => rule.protocol === 'all' || rule.protocol === protocol);

export const portRules = <Rule extends RuleSpec>(rules: readonly Rule[], port: number): Rule[] =>
  rules.filter(({ ports }) => ports.length === 0 || ports.some((one) => contains(one, port)));

/** The first port of each part of a range that every rule contains completely or not at all. */
export function piecesOf(range: PortRange, rules: readonly RuleSpec[]): number[] {
  const starts = rules.flatMap(({ ports }) => ports.flatMap(({ from, to }) => [from, to + 1]));
  return [...new Set([range.from, ...starts])].filter((port) => contains(range, port));
}

/** The rules up to the denial with which everybody is kept out. */
function effectiveRules(rules: readonly AccessRule[], version: 4 | 6): readonly AccessRule[] {
  const keepOutEverybody = (count: number): boolean =>
    isEverybody(addressesOf(rules.slice(0, count).filter(({ isDenial }) => isDenial)), version);
  if (!keepOutEverybody(rules.length)) return rules;
  let [some, all] = [0, rules.length];
  // a binary search: lists of denied addresses are long
  while (all - some > 1) {
    const middle = Math.floor((some + all) / 2);
    if (keepOutEverybody(middle)) all = middle;
    else some = middle;
  }
  return rules.slice(0, all);
}

const addressesOf = (rules: readonly AccessRule[]): string[] => rules.map(({ address }) => address);

const contains = ({ from, to }: PortRange, port: number): boolean => from <= port && port <= to;
