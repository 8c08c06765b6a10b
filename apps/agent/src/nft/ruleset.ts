import type { Change } from './change';
import type { Elements } from './elements';

export const TABLE = 'inet drawbridge';

export interface RulesetOptions {
  /** connections that were let in once go on when their access ends */
  readonly keepEstablished: boolean;
}

/** Below a jiffy a time-out is none at all: the element would stay for ever. */
const MIN_MS = 100;

const FAMILIES = [4, 6] as const;
const REST = { port: ' . inet_proto . inet_service', protocol: ' . inet_proto', any: '' } as const;
const KINDS = ['port', 'protocol', 'any'] as const;

const ADDRESS_SETS = FAMILIES.flatMap((family) =>
  KINDS.flatMap((kind) => [
    `set host${family}_${kind} { type ipv${family}_addr${REST[kind]}; flags timeout; }`,
    // auto-merge would make elements that cannot be taken out by the name they were given
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
 * The table without a single opening. Its rules never change: all that does is elements of its sets.
 *
 * Before the rules of a NAT (priority -150), so that a published port is guarded by the number it is reached at. Guarded
 * TCP ports come first: nothing that connection tracking takes up midway makes a way around them. What a whole protocol
 * or the host itself needs to work follows: answers to what the host asked, errors, neighbours, its own address.
 */
export const structure = ({ keepEstablished }: RulesetOptions): string => `table ${TABLE} {
  set guarded_ports { type inet_proto . inet_service; }
  set guarded_protocols { type inet_proto; }
  set guarded_families { type nf_proto; }
${indented(ADDRESS_SETS, 2)}
  chain guard {
    type filter hook prerouting priority -150; policy accept;
    iif lo accept
    fib daddr type unicast accept
    meta l4proto tcp meta l4proto . th dport @guarded_ports goto check
    ct direction reply accept
    meta l4proto . th dport @guarded_ports goto check
    fib daddr type != local accept
    icmp type { destination-unreachable, time-exceeded, parameter-problem } accept
    icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, nd-redirect } accept
    ip6 saddr fe80::/10 udp dport 546 accept
    meta l4proto @guarded_protocols goto check
    meta nfproto @guarded_families goto check
  }
  chain check {
${indented([...(keepEstablished ? ['ct state established,related accept'] : []), ...LOOKUPS], 4)}
    counter drop
  }
}
`;

const indented = (lines: readonly string[], by: number): string =>
  lines.map((line) => `${' '.repeat(by)}${line}`).join('\n');

/** One transaction that makes the table anew, whatever there was. @param now running time in milliseconds */
export const replaceTransaction = (elements: Elements, now: number, options: RulesetOptions): string =>
  `table ${TABLE}\ndelete table ${TABLE}\n${structure(options)}${commands('add', timed(elements, now))}`;

/**
 * One transaction that makes a change, whatever of it is so already. An element that is there gets another end on every
 * kernel only when it is taken out and put in again; what is taken out has to be there.
 * @param now running time in milliseconds
 */
export function changeTransaction({ removed, set }: Change, now: number): string {
  const gone = [...removed, ...set.keys()];
  return `${commands('add', gone)}${commands('delete', gone)}${commands('add', timed(set, now))}`;
}

function timed(elements: Elements, now: number): string[] {
  return [...elements]
    .filter(([, deadline]) => deadline > now)
    .map(([key, deadline]) =>
      deadline === Infinity ? key : `${key} timeout ${Math.max(MIN_MS, Math.ceil(deadline - now))}ms`,
    );
}

/** One command for each set. @param elements begin with the name of their set */
function commands(verb: 'add' | 'delete', elements: readonly string[]): string {
  const bySet = new Map<string, string[]>();
  for (const element of elements) {
    const space = element.indexOf(' ');
    const set = element.slice(0, space);
    const listed = bySet.get(set) ?? [];
    listed.push(element.slice(space + 1));
    bySet.set(set, listed);
  }
  return [...bySet]
    .map(([set, listed]) => `${verb} element ${TABLE} ${set} { ${listed.join(', ')} }\n`)
    .join('');
}
