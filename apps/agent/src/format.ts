import type { Traffic } from '#rules';
import type { GuardDecisions } from './guarding/guard-file';
import { isTrafficSet, type Listing } from './nft/listing';
import type { DesiredRule } from './state/host-state';

/** More changes than this are counted, not listed. */
const MAX_LINES = 10;

const formatOneTraffic = ({ protocol, ports }: Traffic): string =>
  protocol === 'all' ? 'everything' : [protocol, ports.join(',')].filter(Boolean).join(' ');

/** `tcp 22,5432; icmp` */
export const formatTrafficList = (traffic: readonly Traffic[]): string =>
  traffic.map(formatOneTraffic).join('; ');

/** `tcp/22,tcp/5432,icmp`, as an argument of a command. */
export const formatTrafficArgument = (traffic: readonly Traffic[]): string =>
  traffic
    .flatMap(({ protocol, ports }) =>
      ports.length === 0 ? [protocol] : ports.map((port) => `${protocol}/${port}`),
    )
    .join(',');

const shortAddress = (cidr: string): string => cidr.replace(cidr.includes(':') ? /\/128$/ : /\/32$/, '');

/**
 * Log lines for the rules that a new state opens and closes.
 * @param openedAt by rule id, when it was opened; milliseconds of running time
 */
export function formatChange(
  before: readonly DesiredRule[],
  after: readonly DesiredRule[],
  openedAt: ReadonlyMap<string, number>,
  now: number,
): string[] {
  const [known, desired] = [before, after].map((rules) => new Set(rules.map(({ id }) => id)));
  const opened = after.filter(({ id }) => !known!.has(id));
  const closed = before.filter(({ id }) => !desired!.has(id));
  if (opened.length + closed.length > MAX_LINES)
    return [`${opened.length} rules opened, ${closed.length} closed`];
  return [
    ...opened.map(
      (rule) => `Opened: ${formatRule(rule)} for ${formatSeconds(Math.round((rule.deadline - now) / 1000))}`,
    ),
    ...closed.map((rule) => {
      const since = openedAt.get(rule.id);
      const duration = since === undefined ? '' : ` after ${formatSeconds(Math.round((now - since) / 1000))}`;
      return `Closed: ${formatRule(rule)}${duration}`;
    }),
  ];
}

/** `203.0.113.10 to tcp 22 (ann@example.com, session 3f2a…)` */
function formatRule(rule: DesiredRule): string {
  const holders = rule.holders.length === 0 ? '' : ` (${rule.holders.join('; ')})`;
  return `${shortAddress(rule.cidr)} to ${formatOneTraffic(rule)}${holders}`;
}

const PROTOCOL_NAMES: Readonly<Record<string, string>> = { 1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmpv6' };
const FAMILY_NAMES: Readonly<Record<string, string>> = {
  2: 'everything over IPv4',
  10: 'everything over IPv6',
};

/**
 * The output of --status.
 * @param listing null: there is no table
 * @param plannedSeconds until the planned end of elements: without its server the host ends some of them earlier
 */
export function formatStatus(
  listing: Listing | null,
  { waiting, leftAlone }: GuardDecisions,
  plannedSeconds: ReadonlyMap<string, number> = new Map(),
): string {
  const undecided = [...waiting, ...leftAlone];
  const open =
    undecided.length === 0
      ? ''
      : `Not guarded before it is confirmed: ${formatTrafficList(undecided)}. drawbridge-agent confirm guards it.\n`;
  return `${listing ? formatListing(listing, plannedSeconds) : 'No guard is active on this host.\n'}${open}`;
}

function formatListing(listing: Listing, plannedSeconds: ReadonlyMap<string, number>): string {
  const elements = [...listing.secondsLeft].map(([key, seconds]) => ({
    ...parseKey(key),
    left: formatLeft(seconds, plannedSeconds.get(key) ?? seconds),
  }));
  const guarded = elements.filter(({ set }) => set.startsWith('guarded'));
  const exempt = elements.filter(({ set }) => set.startsWith('exempt'));
  const open = elements.filter(({ set }) => !isTrafficSet(set));
  const rows = open.map(({ fields: [address = '', ...traffic], left }) => [
    formatRange(address),
    traffic.length === 0 ? 'everything' : formatTraffic(traffic),
    left,
  ]);
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
  return [
    guarded.length === 0 ? 'Nothing is guarded.' : `Guarded: ${guarded.map(formatGuard).join(', ')}`,
    ...(exempt.length === 0 ? [] : [`Never guarded: ${exempt.map(formatGuard).join(', ')}`]),
    `${listing.dropped} packets were dropped.`,
    open.length === 0 ? 'No address is allowed.' : 'Allowed:',
    ...rows.map(
      ([address, traffic, left]) =>
        `  ${address!.padEnd(widths[0]!)}  ${traffic!.padEnd(widths[1]!)}  ${left}`,
    ),
    '',
  ].join('\n');
}

/** nft lists whole seconds, and the two are not read at the same time. */
const SAME_SECONDS = 3;

const formatLeft = (seconds: number, planned: number): string =>
  planned <= seconds + SAME_SECONDS
    ? formatSeconds(seconds)
    : `${formatSeconds(Math.floor(planned))}, or ${formatSeconds(seconds)} without its server`;

/** `host4_port 203.0.113.10 . 6 . 22`: the set and the fields of the element. */
function parseKey(key: string): { set: string; fields: string[] } {
  const space = key.indexOf(' ');
  return { set: key.slice(0, space), fields: key.slice(space + 1).split(' . ') };
}

const formatGuard = ({ set, fields }: { set: string; fields: string[] }): string =>
  set.endsWith('_families') ? (FAMILY_NAMES[fields[0] ?? ''] ?? fields.join(' ')) : formatTraffic(fields);

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
  let left = Math.max(0, seconds);
  const parts = UNITS.map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return { count, text: `${count} ${unit}` };
  });
  const largest = parts.findIndex(({ count }) => count > 0);
  return parts
    .slice(largest)
    .slice(0, 2)
    .map((part) => part.text)
    .join(' ');
}
