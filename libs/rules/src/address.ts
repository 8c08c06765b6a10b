import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { specialRangeIn, type RangeRefusal } from './special-ranges';

export type IpVersion = 4 | 6;

/** A single address in canonical text: dotted IPv4, or RFC 5952 IPv6 (lower case, compressed, no zone). */
export interface HostAddress {
  readonly version: IpVersion;
  readonly text: string;
}

export type AddressRefusal = 'not-an-address' | 'wrong-family' | RangeRefusal;

export interface AddressPolicy {
  /** false: addresses that are not routed on the internet are refused */
  readonly allowPrivate: boolean;
}

/**
 * Parses one address: dotted decimal, or textual IPv6 without a zone. `node:net` validates first because it rejects octal,
 * hex, short and integer forms, which ipaddr.js accepts. An IPv4-mapped IPv6 address becomes its IPv4 address.
 * @returns the canonical address, or null when the text is not an address
 */
export function parseHost(text: string): HostAddress | null {
  if (isIPv4(text)) return { version: 4, text: ipaddr.IPv4.parse(text).toString() };
  if (!isIPv6(text) || text.includes('%')) return null;
  const address = ipaddr.IPv6.parse(withHexTail(text));
  if (address.isIPv4MappedAddress()) return { version: 4, text: address.toIPv4Address().toString() };
  return { version: 6, text: address.toRFC5952String() };
}

/** Rewrites `::1.2.3.4` as `::102:304`: ipaddr.js would parse the dotted form as an IPv4-mapped address. */
export function withHexTail(text: string): string {
  const start = text.lastIndexOf(':') + 1;
  const tail = text.slice(start);
  if (!tail.includes('.')) return text;
  const groups = ipaddr.IPv4.parse(tail).toIPv4MappedAddress().parts.slice(6);
  return text.slice(0, start) + groups.map((group) => group.toString(16)).join(':');
}

/** Why an address may not be allowed, or null when it may. */
export const refusalOf = ({ version, text }: HostAddress, policy: AddressPolicy): AddressRefusal | null =>
  specialRangeIn(`${text}/${version === 4 ? 32 : 128}`, policy.allowPrivate)?.refusal ?? null;

/**
 * Parses a caller's address for one family.
 * @param version the family of the field; an IPv4-mapped address in the IPv6 field is the wrong family
 * @returns the canonical address, or the reason for refusal
 */
export function readGivenAddress(
  text: string,
  version: IpVersion,
  policy: AddressPolicy,
): { host: HostAddress } | { refusal: AddressRefusal } {
  const host = parseHost(text);
  if (!host) return { refusal: 'not-an-address' };
  if (host.version !== version) return { refusal: 'wrong-family' };
  const refusal = refusalOf(host, policy);
  return refusal ? { refusal } : { host };
}

/** Messages for refusals, to follow a field's name: "ipv4Address is a multicast address". */
export const REFUSAL_MESSAGES: Readonly<Record<AddressRefusal, string>> = {
  'not-an-address': 'is not a single IP address in standard notation',
  'wrong-family': 'belongs to the other IP version',
  unspecified: 'is the unspecified address',
  multicast: 'is a multicast address',
  broadcast: 'is the broadcast address',
  'link-local': 'is a link-local address',
  private: 'is not a public address, and this deployment allows public addresses only',
};

/**
 * The canonical CIDR of a host or a range, with host bits cleared: `10.1.2.3/8` is `10.0.0.0/8`, a host gets /32 or /128.
 * @returns null when the text is neither
 */
export function canonicalCidr(text: string): { version: IpVersion; cidr: string; prefix: number } | null {
  const slash = text.indexOf('/');
  const host = parseHost(slash < 0 ? text : text.slice(0, slash));
  if (!host) return null;
  const bits = host.version === 4 ? 32 : 128;
  if (slash < 0) return { version: host.version, cidr: `${host.text}/${bits}`, prefix: bits };
  const prefixText = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(prefixText)) return null;
  const prefix = Number(prefixText);
  const mapped = text.includes(':') && host.version === 4;
  if (mapped || prefix > bits) return null;
  const family = host.version === 4 ? ipaddr.IPv4 : ipaddr.IPv6;
  const network = family.networkAddressFromCIDR(`${host.text}/${prefix}`);
  const networkText = network instanceof ipaddr.IPv6 ? network.toRFC5952String() : network.toString();
  return { version: host.version, cidr: `${networkText}/${prefix}`, prefix };
}

/**
 * What is opened for an IPv6 address: the range around it with this prefix, where such a range may be opened, else the address.
 * Privacy addresses change within it.
 */
export function widened(address: string, prefix: number, policy: AddressPolicy): string {
  if (prefix === 128) return address;
  const { cidr } = canonicalCidr(`${address}/${prefix}`)!;
  return specialRangeIn(cidr, policy.allowPrivate) === null ? cidr : address;
}

type ParsedRange = [ipaddr.IPv4 | ipaddr.IPv6, number];

const parsedRanges = new WeakMap<readonly string[], readonly ParsedRange[]>();

/** Caches parsed lists: the same list is checked with every request. */
function parsed(ranges: readonly string[]): readonly ParsedRange[] {
  const known = parsedRanges.get(ranges);
  if (known) return known;
  const read = ranges.flatMap((range) => {
    const network = canonicalCidr(range);
    return network ? [ipaddr.parseCIDR(network.cidr)] : [];
  });
  parsedRanges.set(ranges, read);
  return read;
}

/** Whether the address is in one of the ranges; both in any textual form, mapped forms unwrapped. */
export function isWithin(text: string, ranges: readonly string[]): boolean {
  const host = parseHost(text);
  if (!host) return false;
  const address = ipaddr.parse(host.text);
  return parsed(ranges).some((range) => address.kind() === range[0].kind() && address.match(range));
}
