import ipaddr from 'ipaddr.js';
import { canonicalCidr, isWithin, parseHost, type HostAddress } from './address';

/** Peers trusted by default: a reverse proxy on this host. */
export const DEFAULT_TRUSTED_PROXIES: readonly string[] = ['127.0.0.0/8', '::1/128'];

/** A wider range would include callers as well as proxies. */
const MIN_PROXY_PREFIX = { 4: 8, 6: 16 } as const;

/** Whether a range is narrow enough for proxies: at most a /8 (IPv4) or a /16 (IPv6). */
export function isProxyRange(text: string): boolean {
  const range = canonicalCidr(text);
  return range !== null && range.prefix >= MIN_PROXY_PREFIX[range.version];
}

const PRIVATE_PEER_RANGES = ['private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'];

/** The peer's address if it is private, as that of a reverse proxy usually is; else null. Loopback is not private. */
export function privatePeer(peer: string | undefined): string | null {
  const host = peerHost(peer);
  return host && PRIVATE_PEER_RANGES.includes(ipaddr.parse(host.text).range()) ? host.text : null;
}

export interface CallerHeaders {
  /** the socket's peer, as Node prints it (a zone id is dropped) */
  readonly peer: string | undefined;
  /** every X-Forwarded-For line, joined by commas in order of arrival */
  readonly forwardedFor: string | undefined;
  /** the same of Forwarded (RFC 7239); it counts where there is no X-Forwarded-For */
  readonly forwarded?: string | undefined;
  readonly realIp: string | undefined;
}

export interface Caller {
  /** who is counted and recorded; null when the connection was closed before it was read */
  readonly address: HostAddress | null;
  /** why the address must not be allowed anywhere: what was seen instead of a caller's address; null: it may be */
  readonly unusable: string | null;
}

/** Nothing on the internet sends from there, whatever a proxy writes: CDNs put class E in place of IPv6 callers. */
const IMPOSSIBLE_SOURCES = [
  '0.0.0.0/8',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'ff00::/8',
  '64:ff9b::/96', // NAT64
  '64:ff9b:1::/48',
];
const IMPOSSIBLE_OR_LOCAL_SOURCES = [
  ...IMPOSSIBLE_SOURCES,
  '127.0.0.0/8',
  '::1/128',
  '169.254.0.0/16',
  'fe80::/10',
];
const MAX_SEEN_LENGTH = 100;

/**
 * The caller. Without a trusted proxy as its peer, this is the socket's address. Otherwise it is the rightmost address of
 * X-Forwarded-For, or of Forwarded, that is not a trusted proxy, or X-Real-IP without these. An unreadable entry ends the
 * walk, because entries to its left are untrusted. A header that names no client makes the caller unusable: the peer is the proxy,
 * and allowing the proxy would allow everybody behind it.
 * @param options `refuseLocal`: a caller on this machine or link is unusable, too: no real cloud sees that address
 */
export function callerOf(
  headers: CallerHeaders,
  trustedProxies: readonly string[],
  { refuseLocal }: { readonly refuseLocal: boolean },
): Caller {
  const peer = peerHost(headers.peer);
  const found = peer && isWithin(peer.text, trustedProxies) ? forwardedCaller(headers, trustedProxies) : null;
  if (found && 'seen' in found) return { address: peer, unusable: found.seen.slice(0, MAX_SEEN_LENGTH) };
  const address = found ?? peer;
  const refused = refuseLocal ? IMPOSSIBLE_OR_LOCAL_SOURCES : IMPOSSIBLE_SOURCES;
  return { address, unusable: address && isWithin(address.text, refused) ? address.text : null };
}

/** @returns the address that the headers name, null without a header, or what they hold that names no client */
function forwardedCaller(
  { forwardedFor, forwarded, realIp }: CallerHeaders,
  trustedProxies: readonly string[],
): HostAddress | { readonly seen: string } | null {
  const list = forwardedFor ?? (forwarded === undefined ? undefined : hopsOf(forwarded));
  const header = forwardedFor === undefined ? 'Forwarded' : 'X-Forwarded-For';
  if (list === undefined) {
    if (realIp === undefined) return null;
    return forwardedHost(realIp.trim()) ?? { seen: `X-Real-IP "${realIp}"` };
  }
  const hops = list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  for (const hop of hops.toReversed()) {
    const host = forwardedHost(hop);
    if (!host) break;
    if (!isWithin(host.text, trustedProxies)) return host;
  }
  return { seen: `${header} "${forwardedFor ?? forwarded ?? ''}"` };
}

/** The `for` parameters of Forwarded as X-Forwarded-For lists them; an element without one names no client. */
const hopsOf = (forwarded: string): string =>
  forwarded
    .split(',')
    .map((element) => {
      const named = element.split(';').find((pair) => pair.trim().toLowerCase().startsWith('for='));
      return named === undefined ? 'unknown' : named.trim().slice('for='.length).replaceAll('"', '');
    })
    .join(',');

/** Node adds a zone id to a link-local peer. */
const peerHost = (peer: string | undefined): HostAddress | null => parseHost((peer ?? '').split('%', 1)[0]!);

const IPV4_WITH_PORT = /^([\d.]+):(\d{1,5})$/;
const IPV6_IN_BRACKETS = /^\[([\da-f.]*:[\da-f:.]*)\](?::(\d{1,5}))?$/i;
const LAST_PORT = 65_535;

/** Parses one entry of a header. Some proxies add the caller's port: `1.2.3.4:5678`, `[2001:db8::1]:443`. */
function forwardedHost(entry: string): HostAddress | null {
  const [, address = entry, port = '0'] = IPV4_WITH_PORT.exec(entry) ?? IPV6_IN_BRACKETS.exec(entry) ?? [];
  return Number(port) <= LAST_PORT ? parseHost(address) : null;
}

/** Clients that are counted together. */
export interface RateLimitBucket {
  readonly name: string;
  /** times the limit of one client */
  readonly factor: number;
}

/** What one site may have: a provider gives each a /48, with 65,536 networks of the size that a client gets. */
const SITE_FACTOR = 10;

/** Rate limit buckets of a caller: its IPv4 address, or the /64 of its IPv6 address and its /48. */
export function rateLimitBuckets(host: HostAddress): readonly RateLimitBucket[] {
  if (host.version === 4) return [{ name: host.text, factor: 1 }];
  const groups = ipaddr.IPv6.parse(host.text).toNormalizedString().split(':');
  return [
    { name: `${groups.slice(0, 4).join(':')}::/64`, factor: 1 },
    { name: `${groups.slice(0, 3).join(':')}::/48`, factor: SITE_FACTOR },
  ];
}
