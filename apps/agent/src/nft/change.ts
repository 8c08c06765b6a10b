import type { Elements } from './elements';

/** Deadlines this close count as equal: `secondsLeft` of each answer includes its own network delay. */
const DEADLINE_TOLERANCE_MS = 500;

export interface Change {
  readonly removed: readonly string[];
  readonly set: Elements;
}

/** The difference between two sets of elements: those to remove, and those that are new or have another deadline. */
export function changeBetween(known: Elements, desired: Elements): Change {
  return {
    removed: [...known.keys()].filter((key) => !desired.has(key)),
    set: new Map([...desired].filter(([key, deadline]) => !isSameDeadline(known.get(key), deadline))),
  };
}

const isSameDeadline = (one: number | undefined, other: number): boolean =>
  one !== undefined && (one === other || Math.abs(one - other) <= DEADLINE_TOLERANCE_MS);
