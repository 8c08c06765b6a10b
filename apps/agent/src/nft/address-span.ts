import ipaddr from 'ipaddr.js';
import { withHexTail } from '#rules';

export type Family = 4 | 6;

/** A range of addresses with a deadline. */
export interface Span {
  readonly first: bigint;
  readonly last: bigint;
  /** in milliseconds of running time; Infinity: none */
  readonly deadline: number;
}

const BITS = { 4: 32, 6: 128 } as const;

export const familyOf = (address: string): Family => (address.includes(':') ? 6 : 4);

/** An address as a number. @throws Error when the text is not an address */
export const addressValue = (text: string): bigint =>
  ipaddr
    .parse(familyOf(text) === 6 ? withHexTail(text) : text)
    .toByteArray()
    .reduce((value, byte) => value * 256n + BigInt(byte), 0n);

/** The first and the last address of a canonical CIDR. */
export function bounds(cidr: string): { first: bigint; last: bigint } {
  const [address = '', length = ''] = cidr.split('/');
  const first = addressValue(address);
  return { first, last: first + (1n << BigInt(BITS[familyOf(address)] - Number(length))) - 1n };
}

export const isHost = (cidr: string): boolean => cidr.endsWith(familyOf(cidr) === 4 ? '/32' : '/128');

/**
 * Splits spans into disjoint ones: interval sets accept no overlaps. Each address keeps the latest deadline of the spans
 * that contain it.
 * @param spans of CIDRs: any two are disjoint, or one contains the other
 */
export function disjoint(spans: readonly Span[]): Span[] {
  const pieces: Span[] = [];
  const enclosing: Span[] = [];
  let next = 0n;
  const emit = (last: bigint, deadline: number): void => {
    if (next <= last) pieces.push({ first: next, last, deadline });
    next = last + 1n;
  };
  /** Ends the enclosing spans whose last address is before this one; null ends all of them. */
  const closeSpans = (before: bigint | null): void => {
    const closed = enclosing.filter(({ last }) => before === null || last < before).toReversed();
    for (const inner of closed) emit(inner.last, inner.deadline);
    enclosing.splice(enclosing.length - closed.length);
  };
  for (const span of spans.toSorted(outerFirst)) {
    closeSpans(span.first);
    const inner = enclosing.at(-1);
    if (inner && inner.deadline >= span.deadline) continue;
    if (inner && next < span.first) emit(span.first - 1n, inner.deadline);
    next = span.first;
    enclosing.push(span);
  }
  closeSpans(null);
  return pieces;
}

function outerFirst(one: Span, other: Span): number {
  if (one.first !== other.first) return one.first < other.first ? -1 : 1;
  if (one.last !== other.last) return one.last > other.last ? -1 : 1;
  return other.deadline > one.deadline ? 1 : -1;
}
