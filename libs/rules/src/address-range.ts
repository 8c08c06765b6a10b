import ipaddr from 'ipaddr.js';
import { parseHost } from './address';
import { spanOf } from './special-ranges';

/** The first and the last address of a range, as canonical texts. */
export interface Bounds {
  readonly first: string;
  readonly last: string;
}

/** @param cidr canonical */
export function boundsOf(cidr: string): Bounds {
  const { version, first, last } = spanOf(cidr);
  return { first: addressText(first, version), last: addressText(last, version) };
}

/**
 * The canonical ranges that together are all addresses from the first to the last: at most two for each bit.
 * @returns null when they are no addresses of one IP version, or in the wrong order
 */
export function rangesBetween({ first, last }: Bounds): string[] | null {
  const [from, to] = [parseHost(first), parseHost(last)];
  if (!from || !to || from.version !== to.version) return null;
  const bits = from.version === 4 ? 32 : 128;
  let next = spanOf(`${from.text}/${bits}`).first;
  const end = spanOf(`${to.text}/${bits}`).last;
  if (next > end) return null;
  const ranges: string[] = [];
  while (next <= end) {
    let length = 0;
    // the largest aligned range that begins here and does not go beyond the end
    while (
      length < bits &&
      next % 2n ** BigInt(length + 1) === 0n &&
      next + 2n ** BigInt(length + 1) - 1n <= end
    )
      length += 1;
    ranges.push(`${addressText(next, from.version)}/${bits - length}`);
    next += 2n ** BigInt(length);
  }
  return ranges;
}

/** Canonical: dotted, or RFC 5952 without an IPv4 part. */
export function addressText(value: bigint, version: 4 | 6): string {
  const hex = value.toString(16).padStart(version === 4 ? 8 : 32, '0');
  const address = ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]);
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}
