import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const valueOf = (text: string): bigint =>
  ipaddr
    .parse(text)
    .toByteArray()
    .reduce((value, byte) => value * 256n + BigInt(byte), 0n);

/** Whether both are addresses of one version, in order. */
export const isRange = (first: string, last: string, version: 4 | 6): boolean =>
  isIP(first) === version && isIP(last) === version && valueOf(first) <= valueOf(last);

/** The ranges with a prefix length that make up all addresses from the first to the last. */
export function rangesBetween(first: string, last: string): string[] {
  const version = isIP(first);
  // most rules are one address: of hundreds, each change reads all
  if (version === 4 && first === last) return [`${first}/32`];
  const bits = version === 4 ? 32 : 128;
  const end = valueOf(last);
  const ranges: string[] = [];
  for (let next = valueOf(first); next <= end;) {
    let size = 1n;
    while (next % (size * 2n) === 0n && next + size * 2n - 1n <= end && size < 2n ** BigInt(bits)) size *= 2n;
    ranges.push(`${textOf(next, bits)}/${bits - (size.toString(2).length - 1)}`);
    next += size;
  }
  return ranges;
}

function textOf(value: bigint, bits: number): string {
  const hex = value.toString(16).padStart(bits / 4, '0');
  const address = ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]);
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

/** The first and the last address of a range. @param cidr canonical */
export function boundsOf(cidr: string): [string, string] {
  const [network, prefix] = ipaddr.parseCIDR(cidr);
  const bits = network.kind() === 'ipv4' ? 32 : 128;
  const first = valueOf(network.toString());
  return [textOf(first, bits), textOf(first + 2n ** BigInt(bits - prefix) - 1n, bits)];
}
