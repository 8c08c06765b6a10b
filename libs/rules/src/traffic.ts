import { privatePeer } from './client-address';
import type { Provider } from './provider';
import { ruleSpecs, type PortsPerRule, type Protocol, type TrafficConfig } from './rule-spec';

/** A protocol and its ports, ascending. No ports: every port of the protocol. */
export interface Traffic {
  readonly protocol: Protocol;
  readonly ports: readonly number[];
}

/** `tcp/5432`, or `tcp` for every port. A whole protocol is a key of its own, beside those of its ports. */
type TrafficKey = string;

const keyOf = (protocol: Protocol, port: number): TrafficKey => `${protocol}/${port}`;

const keysOf = (traffic: readonly Traffic[]): Set<TrafficKey> =>
  new Set(
    traffic.flatMap(({ protocol, ports }) =>
      ports.length === 0 ? [protocol] : ports.map((port) => keyOf(protocol, port)),
    ),
  );

/** By protocol: first the whole protocol, then its ports, ascending. */
function toTraffic(keys: Iterable<TrafficKey>): Traffic[] {
  const whole: Protocol[] = [];
  const portsOf = new Map<Protocol, number[]>();
  for (const key of keys) {
    const [name, port] = key.split('/');
    const protocol = name as Protocol;
    if (port === undefined) whole.push(protocol);
    else portsOf.set(protocol, [...(portsOf.get(protocol) ?? []), Number(port)]);
  }
  const traffic = [
    ...whole.map((protocol): Traffic => ({ protocol, ports: [] })),
    ...[...portsOf].map(([protocol, ports]) => ({ protocol, ports: ports.toSorted((a, b) => a - b) })),
  ];
  return traffic.toSorted((one, other) => one.protocol.localeCompare(other.protocol));
}

/** Whether everything of `key` is in `keys`. */
function covers(keys: ReadonlySet<TrafficKey>, key: TrafficKey): boolean {
  const [protocol = ''] = key.split('/');
  return keys.has(key) || keys.has(protocol) || keys.has('all');
}

/** Whether something of `key` is in `keys`. */
const overlaps = (keys: ReadonlySet<TrafficKey>, key: TrafficKey): boolean =>
  covers(keys, key) || [...keys].some((other) => covers(new Set([key]), other));

/** The traffic that a resource names. */
export const trafficOf = (config: TrafficConfig): Traffic[] =>
  ruleSpecs('', config, 'many').map(({ protocol, ports }) => ({
    protocol,
    ports: ports.map(({ from }) => from),
  }));

/** All of it in canonical order; a whole protocol stays beside its ports. */
export const unionOf = (...lists: readonly (readonly Traffic[])[]): Traffic[] =>
  toTraffic(keysOf(lists.flat()));

type Choice = (traffic: readonly Traffic[], other: readonly Traffic[]) => Traffic[];

/** What of `traffic` stays beside `other`. @param stays with the keys of `other` */
const chosenBy =
  (stays: (keys: ReadonlySet<TrafficKey>, key: TrafficKey) => boolean): Choice =>
  (traffic, other) => {
    const keys = keysOf(other);
    return toTraffic([...keysOf(traffic)].filter((key) => stays(keys, key)));
  };

/** What `traffic` lists and `other` does not list in the same words: a whole protocol is not its ports. */
export const difference = chosenBy((keys, key) => !keys.has(key));

/** What `traffic` lists and `other` lists in the same words. */
export const listedInBoth = chosenBy((keys, key) => keys.has(key));

/** What `traffic` lists and `other` does not completely contain. */
export const withoutCovered = chosenBy((keys, key) => !covers(keys, key));

/** What `traffic` lists and `other` contains nothing of. */
export const withoutOverlap = chosenBy((keys, key) => !overlaps(keys, key));

/** What both contain. */
export function intersection(one: readonly Traffic[], other: readonly Traffic[]): Traffic[] {
  const [first, second] = [keysOf(one), keysOf(other)];
  return toTraffic(
    new Set([
      ...[...first].filter((key) => covers(second, key)),
      ...[...second].filter((key) => covers(first, key)),
    ]),
  );
}

/** Whether the traffic contains a port. */
export const containsPort = (traffic: readonly Traffic[], protocol: Protocol, port: number): boolean =>
  covers(keysOf(traffic), keyOf(protocol, port));

/** For messages: `tcp 22, 443 and udp`. */
export const trafficText = (traffic: readonly Traffic[]): string =>
  traffic
    .map(({ protocol, ports }) => (ports.length === 0 ? protocol : `${protocol} ${ports.join(', ')}`))
    .join(' and ');

/** What the rules of a resource open without a limit, for people. Where rules have no ports, nothing could limit them. */
export const trafficWarnings = (config: TrafficConfig, portsPerRule: PortsPerRule): string[] =>
  portsPerRule === 'none'
    ? []
    : trafficOf(config)
        .filter(({ protocol, ports }) => ports.length === 0 && protocol !== 'icmp')
        .map(({ protocol }) => `opens every ${protocol === 'all' ? '' : `${protocol.toUpperCase()} `}port`);

/** Targets that may be in the caller's own network. */
const IN_OWN_NETWORK: readonly Provider[] = ['AGENT', 'APISIX'];

/** Of an address that a cloud sees through a private network only: behind NAT the session admits no traffic. */
export const privateWarnings = (address: string): string[] =>
  privatePeer(address) === null
    ? []
    : [`${address} is private: it lets in connections through a private network only`];

/** What is to be known of an address on a target of the provider. */
export const addressWarnings = (address: string, provider: Provider): string[] =>
  IN_OWN_NETWORK.includes(provider) ? [] : privateWarnings(address);
