/**
 * When an address was let in, as far as observations tell: for certain between the two inner times, possibly between the
 * two outer ones. No `certain` times: it was never observed. `possibleFrom` null: present at the first observation already.
 * `possibleUntil` null: its end was not observed.
 */
export interface AccessInterval {
  readonly possibleFrom: Date | null;
  readonly certainFrom: Date | null;
  readonly certainUntil: Date | null;
  readonly possibleUntil: Date | null;
}

const startOf = ({ possibleFrom }: AccessInterval): number => possibleFrom?.getTime() ?? -Infinity;
const endOf = ({ possibleUntil }: AccessInterval): number => possibleUntil?.getTime() ?? Infinity;

/** The interval, without its certain part when that is empty: the two observations that make it up are needed both. */
export function withCertainty<Interval extends AccessInterval>(interval: Interval): Interval {
  const { certainFrom, certainUntil } = interval;
  if (certainFrom && certainUntil && certainFrom <= certainUntil) return interval;
  return { ...interval, certainFrom: null, certainUntil: null };
}

/** Whether the address was possibly let in between two times, both included. */
export const overlaps = (interval: AccessInterval, from: Date, to: Date): boolean =>
  startOf(interval) <= to.getTime() && endOf(interval) >= from.getTime();

/** Whether the possible parts of intervals leave no gap in that of another one, as far as it lies in a window. */
export function coverageOf(
  intervals: readonly AccessInterval[],
): (inner: AccessInterval, from: Date, to: Date) => boolean {
  const spans: { start: number; end: number }[] = [];
  for (const next of intervals.toSorted((one, other) => startOf(one) - startOf(other))) {
    const last = spans.at(-1);
    if (last && startOf(next) <= last.end) last.end = Math.max(last.end, endOf(next));
    else spans.push({ start: startOf(next), end: endOf(next) });
  }
  return (inner, from, to) => {
    const start = Math.max(startOf(inner), from.getTime());
    const end = Math.min(endOf(inner), to.getTime());
    return spans.some((span) => span.start <= start && span.end >= end);
  };
}

/**
 * One interval for those that overlap, so that it cannot be told of how many holders they were. Certain parts that do not
 * touch stay apart: between them nothing was observed.
 */
export function mergeIntervals<Interval extends AccessInterval>(intervals: readonly Interval[]): Interval[] {
  const merged: Interval[] = [];
  for (const next of intervals.toSorted((one, other) => startOf(one) - startOf(other))) {
    const last = merged.at(-1);
    if (last && startOf(next) <= endOf(last) && certainPartsTouch(last, next)) {
      merged[merged.length - 1] = union(last, next);
    } else {
      merged.push(next);
    }
  }
  return merged;
}

function certainPartsTouch(one: AccessInterval, other: AccessInterval): boolean {
  if (!one.certainFrom || !one.certainUntil || !other.certainFrom || !other.certainUntil) return true;
  return one.certainFrom <= other.certainUntil && other.certainFrom <= one.certainUntil;
}

function union<Interval extends AccessInterval>(first: Interval, second: Interval): Interval {
  return {
    ...first,
    certainFrom: earlier(first.certainFrom, second.certainFrom),
    certainUntil: later(first.certainUntil, second.certainUntil),
    possibleUntil: endOf(first) >= endOf(second) ? first.possibleUntil : second.possibleUntil,
  };
}

const earlier = (one: Date | null, other: Date | null): Date | null =>
  one && other ? (one < other ? one : other) : (one ?? other);

const later = (one: Date | null, other: Date | null): Date | null =>
  one && other ? (one > other ? one : other) : (one ?? other);
