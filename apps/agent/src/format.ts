import type { Listing } from './nft/listing';
import type { Traffic, DesiredRule } from './state/host-state';

/** More changes than this at once are counted, not listed. */
const MAX_LINES = 10;

export const formatTrafficList = ({ protocol, ports }: Traffic): string =>
  protocol === 'all' ? 'everything' : [protocol, ports.join(',')].filter(Boolean).join(' ');

const shortAddress = (cidr: string): string => cidr.replace(cidr.includes(':') ? /\/128$/ : /\/32$/, '');

/** What a new state opens and closes, in lines for the log. */
export function formatChange(before: readonly DesiredRule[], after: readonly DesiredRule[]): string[] {
  const [known, desired] = [before, after].map((rules) => new Set(rules.map(({ id }) => id)));
  const opened = after.filter(({ id }) => !known!.has(id));
  const closed = before.filter(({ id }) => !desired!.has(id));
  if (opened.length + closed.length > MAX_LINES) return [`${opened.length} rules come, ${closed.length} go`];
  return [
    ...opened.map((rule) => `Let in: ${shortAddress(rule.cidr)} to ${formatTrafficList(rule)}`),
    ...closed.map((rule) => `No longer let in: ${shortAddress(rule.cidr)} to ${formatTrafficList(rule)}`),
  ];
}

const PROTOCOL_NAMES: Readonly<Record<string, string>> = { 1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmpv6' };
const FAMILY_NAMES: Readonly<Record<string, string>> = {
  2: 'everything over IPv4',
  10: 'everything over IPv6',
};

/** The table, as people read it. @param listing null: there is none */
export function formatStatus(listing: Listing | null): string {
  if (!listing) return 'No guard stands on this host.\n';
  const elements = [...listing.secondsLeft].map(([key, seconds]) => ({ ...split(key), seconds }));
  const guarded = elements.filter(({ set }) => set.startsWith('guarded'));
  const open = elements.filter(({ set }) => !set.startsWith('guarded'));
  const rows = open.map(({ words: [address = '', ...rest], seconds }) => [
    formatRange(address),
    rest.length === 0 ? 'everything' : formatTraffic(rest),
    formatSeconds(seconds),
  ]);
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
  return [
    guarded.length === 0 ? 'Nothing is guarded.' : `Guarded: ${guarded.map(formatGuard).join(', ')}`,
    `${listing.dropped} packets were turned away.`,
    open.length === 0 ? 'Open to nobody.' : 'Open to:',
    ...rows.map(
      ([address, place, left]) => `  ${address!.padEnd(widths[0]!)}  ${place!.padEnd(widths[1]!)}  ${left}`,
    ),
    '',
  ].join('\n');
}

function split(key: string): { set: string; words: string[] } {
  const space = key.indexOf(' ');
  return { set: key.slice(0, space), words: key.slice(space + 1).split(' . ') };
}

const formatGuard = ({ set, words }: { set: string; words: string[] }): string =>
  set === 'guarded_families' ? (FAMILY_NAMES[words[0] ?? ''] ?? words.join(' ')) : formatTraffic(words);

const formatTraffic = ([protocol = '', ...ports]: readonly string[]): string =>
  [PROTOCOL_NAMES[protocol] ?? protocol, ...ports].join(' ');

function formatRange(address: string): string {
  const [first, last] = address.split('-');
  return last === undefined || first === last ? first! : address;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** `1 h 59 min`: the two largest units. */
export function formatSeconds(seconds: number): string {
  if (seconds === Infinity) return 'no end';
  const from = Math.max(
    0,
    UNITS.findIndex(([, size]) => seconds >= size),
  );
  let left = seconds;
  const words = UNITS.slice(seconds < 1 ? UNITS.length - 1 : from)
    .slice(0, 2)
    .map(([unit, size]) => {
      const count = Math.floor(left / size);
      left -= count * size;
      return `${count} ${unit}`;
    });
  return words.join(' ');
}
