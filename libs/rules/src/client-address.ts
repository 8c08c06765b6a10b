import { isWithin, parseHost, type HostAddress } from './address';

/** Peers believed by default: a reverse proxy on this host, this link or this private network. */
export const DEFAULT_TRUSTED_PROXIES: readonly string[] = [
  '127.0.0.0/8',
  '::1/128',
  '169.254.0.0/16',
  'fe80::/10',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
];

export interface CallerHeaders {
  /** the socket's peer, as Node prints it (a zone id is dropped) */
  readonly peer: string | undefined;
  /** every X-Forwarded-For line, joined by commas in the order they came */
  readonly forwardedFor: string | undefined;
  readonly realIp: string | undefined;
}

/**
 * The caller's address: the socket's, unless its peer is a trusted proxy; then the first address from the right of
 * X-Forwarded-For that is no trusted proxy, then X-Real-IP, then the socket's. An unreadable entry ends the walk:
 * what stands left of it was written by nobody we know. The left end of a chain of trusted proxies is not taken
 * either: anybody in a trusted range could have put it there.
 * @returns null when nothing readable is left
 */
export function callerAddress(headers: CallerHeaders, trustedProxies: readonly string[]): HostAddress | null {
  const peer = parseHost((headers.peer ?? '').replace(/%.*$/, ''));
  if (!peer || !isWithin(peer.text, trustedProxies)) return peer;
  const hops = (headers.forwardedFor ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '');
  for (const hop of hops.toReversed()) {
    const host = forwardedHost(hop);
    if (!host) break;
    if (!isWithin(host.text, trustedProxies)) return host;
  }
  return forwardedHost((headers.realIp ?? '').trim()) ?? peer;
}

const IPV4_WITH_PORT = /^([\d.]+):(\d{1,5})$/;
const IPV6_IN_BRACKETS = /^\[([\da-f:.]*:[\da-f:.]*)\](?::(\d{1,5}))?$/i;
const LAST_PORT = 65_535;

/** One entry of a header. Some proxies add the caller's port: `1.2.3.4:5678`, `[2001:db8::1]:443`. */
function forwardedHost(entry: string): HostAddress | null {
  const [, address = entry, port = '0'] = IPV4_WITH_PORT.exec(entry) ?? IPV6_IN_BRACKETS.exec(entry) ?? [];
  return Number(port) <= LAST_PORT ? parseHost(address) : null;
}

/** The bucket a caller is counted in: an IPv4 address, or the /64 of an IPv6 one. */
export function rateLimitBucket(host: HostAddress): string {
  if (host.version === 4) return host.text;
  const groups = expandIpv6(host.text).slice(0, 4);
  return `${groups.join(':')}::/64`;
}

function expandIpv6(text: string): string[] {
  const [head = '', tail = ''] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}
