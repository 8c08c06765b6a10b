import type { Elements } from './elements';

/** Ends this close to each other are the same: each answer tells the seconds left with its own delay. */
const SAME_END_MS = 500;

export interface Change {
  readonly removed: readonly string[];
  readonly set: Elements;
}

/** What makes one set of elements another: what is to go, and what is new or ends at another time. */
export function changeBetween(known: Elements, desired: Elements): Change {
  return {
    removed: [...known.keys()].filter((key) => !desired.has(key)),
    set: new Map([...desired].filter(([key, deadline]) => !isSameEnd(known.get(key), deadline))),
  };
}

const isSameEnd = (one: number | undefined, other: number): boolean =>
  one !== undefined && (one === other || Math.abs(one - other) <= SAME_END_MS);
