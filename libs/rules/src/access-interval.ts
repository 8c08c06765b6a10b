/**
 * When an address had access, as far as observed: certainly between the two `certain` times, possibly between the two
 * `possible` ones. Null `certain` times: never observed. Null `possibleFrom`: present at the first observation. Null
 * `possibleUntil`: the end was not observed.
 */
export interface AccessInterval {
  readonly possibleFrom: Date | null;
  readonly certainFrom: Date | null;
  readonly certainUntil: Date | null;
  readonly possibleUntil: Date | null;
}

const startOf = ({ possibleFrom }: AccessInterval): number => possibleFrom?.getTime() ?? -Infinity;
const endOf = ({ possibleUntil }: AccessInterval): number => possibleUntil?.getTime() ?? Infinity;

/** The interval, without its certain part if that is empty or has only one bound. */
export function withCertainty<Interval extends AccessInterval>(interval: Interval): Interval {
  const { certainFrom, certainUntil } = interval;
  if (certainFrom && certainUntil && certainFrom <= certainUntil) return interval;
  return { ...interval, certainFrom: null, certainUntil: null };
}

/** Whether the address possibly had access between two times, inclusive. */
export const overlaps = (interval: AccessInterval, from: Date, to: Date): boolean =>
  startOf(interval) <= to.getTime() && endOf(interval) >= from.getTime();

/** Returns a predicate: do the possible parts of the intervals cover that of another one, within a window? */
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
 * Merges overlapping intervals, which hides the number of their holders. Intervals whose certain parts do not touch are not
 * merged: nothing was observed between them.
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
