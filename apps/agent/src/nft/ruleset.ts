import { grouped } from '#rules';
import type { Elements } from './elements';

export const TABLE = 'inet drawbridge';

/** What turns the elements of the table into others. An element with another deadline is removed and set. */
export interface Change {
  readonly removed: readonly string[];
  /** to be removed as well, and perhaps expired since the last read */
  readonly ending: readonly string[];
  readonly set: Elements;
}

export interface RulesetOptions {
  /** established connections continue when their access ends */
  readonly keepEstablished: boolean;
}

/** A timeout below a jiffy counts as none: the element would never expire. */
const MIN_TIMEOUT_MS = 100;

const FAMILIES = [4, 6] as const;
const REST = { port: ' . inet_proto . inet_service', protocol: ' . inet_proto', any: '' } as const;
const KINDS = ['port', 'protocol', 'any'] as const;

const ADDRESS_SETS = FAMILIES.flatMap((family) =>
  KINDS.flatMap((kind) => [
    `set host${family}_${kind} { type ipv${family}_addr${REST[kind]}; flags timeout; }`,
    // with auto-merge, elements could not be deleted by the key they were added with
    `set net${family}_${kind} { type ipv${family}_addr${REST[kind]}; flags interval, timeout; }`,
  ]),
);

const SUBJECT = { port: ' . meta l4proto . th dport', protocol: ' . meta l4proto', any: '' } as const;

const LOOKUPS = FAMILIES.flatMap((family) =>
  KINDS.flatMap((kind) =>
    ['host', 'net'].map(
      (width) => `${family === 4 ? 'ip' : 'ip6'} saddr${SUBJECT[kind]} @${width}${family}_${kind} accept`,
    ),
  ),
);

/**
 * The table without elements. Its rules never change, only the elements of its sets.
 *
 * The chain runs before NAT (priority -150), so that a published port is guarded by the port number that clients use.
 * What the host exempts is accepted first. Then guarded ports are checked: neither a connection that connection tracking
 * picks up midway may bypass them, nor an answer to a datagram that the guarded service sent by itself. Then follow
 * exceptions that the host or a protocol needs: replies to its own requests, traffic to other hosts, ICMP errors, neighbour
 * discovery, DHCPv6.
 */
export const structure = ({ keepEstablished }: RulesetOptions): string => `table ${TABLE} {
  set guarded_ports { type inet_proto . inet_service; }
  set guarded_protocols { type inet_proto; }
  set guarded_families { type nf_proto; }
  set exempt_ports { type inet_proto . inet_service; }
  set exempt_protocols { type inet_proto; }
${indent(ADDRESS_SETS, 2)}
  chain guard {
    type filter hook prerouting priority -150; policy accept;
    iif lo accept
    fib daddr type unicast accept
    meta l4proto . th dport @exempt_ports accept
    meta l4proto @exempt_protocols accept
    meta l4proto . th dport @guarded_ports goto check
    ct direction reply accept
    fib daddr type != local accept
    icmp type { destination-unreachable, time-exceeded, parameter-problem } accept
    icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, nd-redirect } accept
    ip6 saddr fe80::/10 udp dport 546 accept
    meta l4proto @guarded_protocols goto check
    meta nfproto @guarded_families goto check
  }
  chain check {
${indent([...(keepEstablished ? ['ct state established,related accept'] : []), ...LOOKUPS], 4)}
    counter drop
  }
}
`;

const indent = (lines: readonly string[], by: number): string =>
  lines.map((line) => `${' '.repeat(by)}${line}`).join('\n');

/** One transaction that recreates the table, whether or not it exists. @param now running time in milliseconds */
export const replaceTransaction = (elements: Elements, now: number, options: RulesetOptions): string =>
  `table ${TABLE}\ndelete table ${TABLE}\n${structure(options)}${commands('add', withTimeouts(elements, now))}`;

/**
 * One transaction that applies a change. Changing the timeout of an element works on every kernel only by deleting and
 * adding it. A delete fails unless the element exists, so what may have expired is added first; and an element cannot be
 * added, even to be deleted again, beside one that it overlaps: everything else is only deleted, before anything is added.
 * @param now running time in milliseconds
 */
export function changeTransaction({ removed, ending, set }: Change, now: number): string {
  const deleted = commands('delete', [...ending, ...removed]);
  return `${commands('add', ending)}${deleted}${commands('add', withTimeouts(set, now))}`;
}

function withTimeouts(elements: Elements, now: number): string[] {
  return [...elements]
    .filter(([, deadline]) => deadline > now)
    .map(([key, deadline]) =>
      deadline === Infinity ? key : `${key} timeout ${Math.max(MIN_TIMEOUT_MS, Math.ceil(deadline - now))}ms`,
    );
}

/** One command per set. @param elements each begins with the name of its set */
function commands(verb: 'add' | 'delete', elements: readonly string[]): string {
  const bySet = grouped(elements, (element) => element.slice(0, element.indexOf(' ')));
  const lines = [...bySet].map(([set, named]) => {
    const keys = named.map((element) => element.slice(set.length + 1));
    return `${verb} element ${TABLE} ${set} { ${keys.join(', ')} }\n`;
  });
  return lines.join('');
}
