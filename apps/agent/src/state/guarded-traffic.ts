import type { Protocol } from '#rules';
import type { Traffic } from './host-state';

/** `tcp/5432`, or `icmp` for all of a protocol. */
type TrafficKey = string;

const keysOf = ({ protocol, ports }: Traffic): TrafficKey[] =>
  ports.length === 0 ? [protocol] : ports.map((port) => `${protocol}/${port}`);

const keys = (traffic: readonly Traffic[]): Set<TrafficKey> => new Set(traffic.flatMap(keysOf));

function toTraffic(given: Iterable<TrafficKey>): Traffic[] {
  const whole: Traffic[] = [];
  const ports = new Map<Protocol, number[]>();
  for (const key of given) {
    const [name, port] = key.split('/');
    const protocol = name as Protocol;
    if (port === undefined) whole.push({ protocol, ports: [] });
    else ports.set(protocol, [...(ports.get(protocol) ?? []), Number(port)]);
  }
  return [...whole, ...[...ports].map(([protocol, list]) => ({ protocol, ports: list }))];
}

/** What one or the other guards. */
export const unionOf = (one: readonly Traffic[], other: readonly Traffic[]): Traffic[] =>
  toTraffic(keys([...one, ...other]));

/** What the first guards, and the second does not name. */
export function without(guarded: readonly Traffic[], named: readonly Traffic[]): Traffic[] {
  const gone = keys(named);
  return toTraffic([...keys(guarded)].filter((key) => !gone.has(key)));
}
