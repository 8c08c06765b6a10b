import ipaddr from 'ipaddr.js';

export type RangeRefusal = 'unspecified' | 'multicast' | 'broadcast' | 'link-local' | 'private';

/**
 * Special-purpose ranges (RFC 6890 and the IANA registries) by refusal. The first four are always refused, `private` only
 * where a deployment allows public addresses only. Documentation ranges count as public.
 */
const RANGES: Readonly<Record<RangeRefusal, readonly string[]>> = {
  unspecified: ['0.0.0.0/8', '::/128'],
  broadcast: ['255.255.255.255/32'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  private: [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '127.0.0.0/8', // loopback
    '100.64.0.0/10', // carrier-grade NAT
    '192.0.0.0/24', // IETF protocol assignments
    '192.31.196.0/24', // AS112
    '192.52.193.0/24', // AMT
    '192.88.99.0/24', // 6to4 relays
    '192.175.48.0/24', // AS112
    '198.18.0.0/15', // benchmarks
    '240.0.0.0/4', // reserved
    '64:ff9b::/96', // NAT64, whatever IPv4 address it carries
    '64:ff9b:1::/48', // local NAT64
    'fc00::/7', // unique local
    'fec0::/10', // site-local
    '2001::/32', // Teredo, whatever IPv4 address it carries
    '2001::/23', // IETF protocol assignments
    '2002::/16', // 6to4, whatever IPv4 address it carries
    '2620:4f:8000::/48', // AS112
    '5f00::/16', // segment routing
    '::/3', // with all below: what is not in 2000::/3 is not routed on the internet
    '4000::/2',
    '8000::/1',
  ],
};

/** A special range, and why its addresses are refused. */
export interface SpecialRange {
  readonly range: string;
  readonly refusal: RangeRefusal;
}

const SPECIAL = Object.entries(RANGES).flatMap(([refusal, ranges]) =>
  ranges.map((range) => ({ range, refusal: refusal as RangeRefusal, parsed: ipaddr.parseCIDR(range) })),
);

/**
 * The first special range that overlaps a range.
 * @param cidr canonical
 * @param allowPrivate skips private ranges
 */
export function specialRangeIn(cidr: string, allowPrivate: boolean): SpecialRange | null {
  // ipaddr's own choice of the family tries the other one first, at the cost of an exception
  const [network, prefix] = (cidr.includes(':') ? ipaddr.IPv6 : ipaddr.IPv4).parseCIDR(cidr);
  const found = SPECIAL.find(
    ({ refusal, parsed: [other, length] }) =>
      !(allowPrivate && refusal === 'private') &&
      network.kind() === other.kind() &&
      // of two overlapping CIDR ranges, one contains the other
      network.match([other, Math.min(prefix, length)]),
  );
  return found ? { range: found.range, refusal: found.refusal } : null;
}

/** Number of distinct addresses in ranges of one family. @param cidrs canonical */
export function addressesIn(cidrs: readonly string[]): bigint {
  const spans = cidrs.map(spanOf).toSorted((one, other) => (one.first < other.first ? -1 : 1));
  let counted = 0n;
  let next = 0n;
  for (const { first, last } of spans) {
    const from = first > next ? first : next;
    if (last < from) continue;
    counted += last - from + 1n;
    next = last + 1n;
  }
  return counted;
}

/**
 * Whether ranges of one IP version contain every address that is routed on the internet. Several may do so together.
 * @param cidrs canonical
 */
export function isEverybody(cidrs: readonly string[], version: 4 | 6): boolean {
  if (cidrs.some((cidr) => cidr.endsWith('/0'))) return true;
  const unrouted = SPECIAL.map(({ range }) => range).filter(
    (range) => range.includes(':') === (version === 6),
  );
  return addressesIn([...cidrs, ...unrouted]) === 2n ** (version === 6 ? 128n : 32n);
}

/** The first and the last address of a range. */
export interface AddressSpan {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/** @param cidr canonical */
export function spanOf(cidr: string): AddressSpan {
  const [network, prefix] = ipaddr.parseCIDR(cidr);
  const bytes = network.toByteArray();
  const first = bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  const version = bytes.length === 4 ? 4 : 6;
  return { version, first, last: first + 2n ** BigInt(bytes.length * 8 - prefix) - 1n };
}
