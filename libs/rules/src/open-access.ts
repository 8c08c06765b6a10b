import { addressesIn } from './special-ranges';
import { portsText, ruleSpecs, type PortRange, type RuleSpec, type TrafficConfig } from './rule-spec';

const EVERY_PORT: PortRange = { from: 0, to: 65_535 };

const ADDRESSES = { '0.0.0.0/0': 2n ** 32n, '::/0': 2n ** 128n } as const;

type Everyone = keyof typeof ADDRESSES;

/** What every address of an IP version may reach already. */
export interface OpenAccess {
  /** for messages: `tcp 22`, or `tcp` for every port */
  readonly traffic: string;
  readonly from: Everyone;
}

/**
 * The first part of a resource's traffic that rules let every address of one IP version reach: rules for single addresses
 * restrict nothing there. Several rules that let everybody in together count too, such as two halves of all addresses.
 * @param config of the resource; all of its ports have to be open for a config without ports
 * @param rules that are in force on the target; addresses are canonical CIDRs
 */
export function openToEveryone(config: TrafficConfig, rules: readonly RuleSpec[]): OpenAccess | null {
  for (const { protocol, ports } of ruleSpecs('', config, 'one')) {
    const range = ports[0] ?? EVERY_PORT;
    const matching = rules.filter((rule) => rule.protocol === 'all' || rule.protocol === protocol);
    for (const from of Object.keys(ADDRESSES) as Everyone[]) {
      const family = matching.filter(({ address }) => address.includes(':') === from.includes(':'));
      if (piecesOf(range, family).every((port) => isEveryone(from, family, port))) {
        return { traffic: ports.length === 0 ? protocol : `${protocol} ${portsText(ports)}`, from };
      }
    }
  }
  return null;
}

/** The first port of each part of a range that every rule contains completely or not at all. */
function piecesOf(range: PortRange, rules: readonly RuleSpec[]): number[] {
  const starts = rules.flatMap(({ ports }) => ports.flatMap(({ from, to }) => [from, to + 1]));
  return [...new Set([range.from, ...starts])].filter((port) => port >= range.from && port <= range.to);
}

function isEveryone(from: Everyone, rules: readonly RuleSpec[], port: number): boolean {
  const open = rules.filter(
    ({ ports }) => ports.length === 0 || ports.some((range) => contains(range, port)),
  );
  return addressesIn(open.map(({ address }) => address)) === ADDRESSES[from];
}

const contains = ({ from, to }: PortRange, port: number): boolean => from <= port && port <= to;
