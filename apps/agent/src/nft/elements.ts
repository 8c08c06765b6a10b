import type { Protocol } from '#rules';
import type { Traffic, DesiredRule } from '../state/host-state';
import { addressText, bounds, disjoint, familyOf, isHost, type Family, type Span } from './address-span';

/**
 * Elements of the table's sets, `host4_port 203.0.113.10 . 6 . 22`, and when each ends in milliseconds of running time;
 * Infinity: it has no end. Numbers of protocols, so that nothing depends on the host's /etc/protocols.
 */
export type Elements = ReadonlyMap<string, number>;

export interface Openings {
  readonly elements: Elements;
  /** what has to stand for a rule to stand; a rule that is over has no entry */
  readonly keysOf: ReadonlyMap<string, readonly string[]>;
}

const NUMBERS = { tcp: 6, udp: 17 } as const;
const ICMP: Readonly<Record<Family, number>> = { 4: 1, 6: 58 };
const FAMILIES: readonly Family[] = [4, 6];
/** of meta nfproto */
const NFPROTO: Readonly<Record<Family, number>> = { 4: 2, 6: 10 };

/** What is closed to everybody but the openings. */
export function guardElements(guarded: readonly Traffic[]): Elements {
  const keys = guarded.flatMap(({ protocol, ports }) => {
    if (protocol === 'all') return FAMILIES.map((family) => `guarded_families ${NFPROTO[family]}`);
    if (protocol === 'icmp') return FAMILIES.map((family) => `guarded_protocols ${ICMP[family]}`);
    if (ports.length === 0) return [`guarded_protocols ${NUMBERS[protocol]}`];
    return ports.map((port) => `guarded_ports ${NUMBERS[protocol]} . ${port}`);
  });
  return new Map(keys.map((key) => [key, Infinity]));
}

/** @param now running time in milliseconds: what is over by then is left out */
export function openings(rules: readonly DesiredRule[], now: number): Openings {
  const elements = new Map<string, number>();
  const keysOf = new Map<string, string[]>();
  const ranges = new Map<string, Span[]>();
  const lasting = rules.filter(({ deadline }) => deadline > now);
  for (const { id, cidr, deadline, ...traffic } of lasting.filter((rule) => isHost(rule.cidr))) {
    const family = familyOf(cidr);
    const address = cidr.slice(0, cidr.indexOf('/'));
    const keys = places(traffic, family).map(({ kind, rest }) => `host${family}_${kind} ${address}${rest}`);
    for (const key of keys) elements.set(key, Math.max(deadline, elements.get(key) ?? 0));
    keysOf.set(id, keys);
  }
  const wide = lasting.filter((rule) => !isHost(rule.cidr));
  for (const rule of wide) {
    for (const place of rangePlaces(rule)) {
      const spans = ranges.get(place) ?? [];
      ranges.set(place, [...spans, { ...bounds(rule.cidr), deadline: rule.deadline }]);
    }
  }
  const pieces = new Map([...ranges].map(([place, spans]) => [place, pieceElements(place, spans)]));
  for (const found of pieces.values()) for (const [key, deadline] of found) elements.set(key, deadline);
  // ranges stand together: a piece may serve several of them
  for (const rule of wide)
    keysOf.set(
      rule.id,
      rangePlaces(rule).flatMap((place) => [...pieces.get(place)!.keys()]),
    );
  return { elements, keysOf };
}

interface Place {
  readonly kind: 'port' | 'protocol' | 'any';
  /** what follows the address in an element */
  readonly rest: string;
}

function places({ protocol, ports }: Traffic, family: Family): Place[] {
  if (protocol === 'all') return [{ kind: 'any', rest: '' }];
  const number = numberOf(protocol, family);
  if (ports.length === 0) return [{ kind: 'protocol', rest: ` . ${number}` }];
  return ports.map((port) => ({ kind: 'port', rest: ` . ${number} . ${port}` }));
}

const numberOf = (protocol: Exclude<Protocol, 'all'>, family: Family): number =>
  protocol === 'icmp' ? ICMP[family] : NUMBERS[protocol];

/** The sets, with the rest of the element, that a range has pieces in. */
function rangePlaces(rule: DesiredRule): string[] {
  const family = familyOf(rule.cidr);
  return places(rule, family).map(({ kind, rest }) => `net${family}_${kind}${rest}`);
}

function pieceElements(place: string, spans: readonly Span[]): Elements {
  const [set = '', ...rest] = place.split(' ');
  const family = set.startsWith('net6') ? 6 : 4;
  return new Map(
    disjoint(spans).map(({ first, last, deadline }) => {
      const range = `${addressText(first, family)}-${addressText(last, family)}`;
      return [[set, range, ...rest].join(' '), deadline];
    }),
  );
}
