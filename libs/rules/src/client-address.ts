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
  readonly realIp: string | undefined;
}

/**
 * The caller's address. Without a trusted proxy as its peer, this is the socket's. Otherwise it is the rightmost address of
 * X-Forwarded-For that is not a trusted proxy, or X-Real-IP without X-Forwarded-For. An unreadable entry ends the walk,
 * because entries to its left are untrusted. If all entries are trusted proxies, the socket's address is used: any client in
 * a trusted range could have written the leftmost one.
 * @returns null when no readable address is left
 */
export function callerAddress(headers: CallerHeaders, trustedProxies: readonly string[]): HostAddress | null {
  const peer = peerHost(headers.peer);
  if (!peer || !isWithin(peer.text, trustedProxies)) return peer;
  if (headers.forwardedFor === undefined) return forwardedHost((headers.realIp ?? '').trim()) ?? peer;
  const hops = headers.forwardedFor
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '');
  for (const hop of hops.toReversed()) {
    const host = forwardedHost(hop);
    if (!host) break;
    if (!isWithin(host.text, trustedProxies)) return host;
  }
  return peer;
}

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
  const groups = expandIpv6(host.text);
  return [
    { name: `${groups.slice(0, 4).join(':')}::/64`, factor: 1 },
    { name: `${groups.slice(0, 3).join(':')}::/48`, factor: SITE_FACTOR },
  ];
}

function expandIpv6(text: string): string[] {
  const [head = '', tail = ''] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}
