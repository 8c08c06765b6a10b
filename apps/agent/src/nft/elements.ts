import { addressText, grouped, PROTOCOLS, type Traffic } from '#rules';
import type { DesiredRule } from '../state/host-state';
import { bounds, disjoint, familyOf, isHost, type Family, type Span } from './address-span';

/**
 * Elements of the table's sets, `host4_port 203.0.113.10 . 6 . 22`, with their deadlines in milliseconds of running
 * time; Infinity: no end. Protocols are numbers, so that elements do not depend on the host's /etc/protocols.
 */
export type Elements = ReadonlyMap<string, number>;

export interface RuleElements {
  readonly elements: Elements;
  /** by rule id, all the elements that make the rule present; an expired rule has no entry */
  readonly keysOf: ReadonlyMap<string, readonly string[]>;
}

const NUMBERS = { tcp: 6, udp: 17 } as const;
const ICMP: Readonly<Record<Family, number>> = { 4: 1, 6: 58 };
const FAMILIES: readonly Family[] = [4, 6];
/** of meta nfproto */
const NFPROTO: Readonly<Record<Family, number>> = { 4: 2, 6: 10 };

/** The elements that close guarded traffic. @param exempt is never closed, whatever is guarded */
export function guardElements(guarded: readonly Traffic[], exempt: readonly Traffic[]): Elements {
  const keys = [...trafficKeys('guarded', guarded), ...trafficKeys('exempt', exempt)];
  return new Map(keys.map((key) => [key, Infinity]));
}

const trafficKeys = (sets: 'guarded' | 'exempt', traffic: readonly Traffic[]): string[] =>
  traffic.flatMap(({ protocol, ports }) => {
    if (protocol === 'all') return FAMILIES.map((family) => `${sets}_families ${NFPROTO[family]}`);
    if (protocol === 'icmp') return FAMILIES.map((family) => `${sets}_protocols ${ICMP[family]}`);
    if (ports.length === 0) return [`${sets}_protocols ${NUMBERS[protocol]}`];
    return ports.map((port) => `${sets}_ports ${NUMBERS[protocol]} . ${port}`);
  });

/** The guarded traffic that these elements close: the reverse of `guardElements`. */
export function trafficIn(keys: Iterable<string>): Traffic[] {
  const found = new Set(keys);
  const candidates: Traffic[] = [...found].flatMap((key): Traffic[] => {
    const port = /^guarded_ports (6|17) \. (\d+)$/.exec(key);
    return port ? [{ protocol: port[1] === '6' ? 'tcp' : 'udp', ports: [Number(port[2])] }] : [];
  });
  const whole = PROTOCOLS.map((protocol): Traffic => ({ protocol, ports: [] }));
  return [...whole, ...candidates].filter((traffic) =>
    [...guardElements([traffic], []).keys()].every((key) => found.has(key)),
  );
}

/** The elements that allow the rules' addresses. @param now running time in milliseconds: expired rules are left out */
export function ruleElements(rules: readonly DesiredRule[], now: number): RuleElements {
  const elements = new Map<string, number>();
  const keysOf = new Map<string, string[]>();
  // a rule of everything is several within the limits of the host
  const addKeys = (id: string, keys: readonly string[]): void =>
    void keysOf.set(id, [...(keysOf.get(id) ?? []), ...keys]);
  const unexpired = rules.filter(({ deadline }) => deadline > now);
  for (const { id, cidr, deadline, ...traffic } of unexpired.filter((rule) => isHost(rule.cidr))) {
    const family = familyOf(cidr);
    const address = cidr.slice(0, cidr.indexOf('/'));
    const keys = matchesOf(traffic, family).map(
      ({ kind, suffix }) => `host${family}_${kind} ${address}${suffix}`,
    );
    for (const key of keys) elements.set(key, Math.max(deadline, elements.get(key) ?? 0));
    addKeys(id, keys);
  }
  const rangeRules = unexpired.filter((rule) => !isHost(rule.cidr));
  const spans = rangeRules.flatMap((rule) =>
    rangeMatches(rule).map((match) => ({ match, ...bounds(rule.cidr), deadline: rule.deadline })),
  );
  const spansByMatch = grouped(spans, ({ match }) => match);
  const pieces = new Map([...spansByMatch].map(([match, found]) => [match, disjointElements(match, found)]));
  for (const found of pieces.values()) for (const [key, deadline] of found) elements.set(key, deadline);
  // a range needs all pieces of its match: a piece may belong to several ranges
  for (const rule of rangeRules)
    addKeys(
      rule.id,
      rangeMatches(rule).flatMap((match) => [...pieces.get(match)!.keys()]),
    );
  return { elements, keysOf };
}

interface Match {
  readonly kind: 'port' | 'protocol' | 'any';
  /** the part of an element after the address */
  readonly suffix: string;
}

function matchesOf({ protocol, ports }: Traffic, family: Family): Match[] {
  if (protocol === 'all') return [{ kind: 'any', suffix: '' }];
  const number = protocol === 'icmp' ? ICMP[family] : NUMBERS[protocol];
  if (ports.length === 0) return [{ kind: 'protocol', suffix: ` . ${number}` }];
  return ports.map((port) => ({ kind: 'port', suffix: ` . ${number} . ${port}` }));
}

/** The sets that hold a range, each with the part of the element after the address: `net4_port . 6 . 22`. */
function rangeMatches(rule: DesiredRule): string[] {
  const family = familyOf(rule.cidr);
  return matchesOf(rule, family).map(({ kind, suffix }) => `net${family}_${kind}${suffix}`);
}

function disjointElements(match: string, spans: readonly Span[]): Elements {
  const [set = '', ...rest] = match.split(' ');
  const family = set.startsWith('net6') ? 6 : 4;
  return new Map(
    disjoint(spans).map(({ first, last, deadline }) => {
      const range = `${addressText(first, family)}-${addressText(last, family)}`;
      return [[set, range, ...rest].join(' '), deadline];
    }),
  );
}
