import type { ResourceConfig } from '#rules';

/** Azure's own bounds. */
const LOWEST = 100;
const HIGHEST = 4096;
const USUAL = { from: 1000, to: 3999 };

/** Which priorities the rules of a resource may take, both ends included. */
export interface PriorityWindow {
  readonly from: number;
  readonly to: number;
}

/** The window that a resource's config names; an end left out is the usual one, or Azure's own where that does not fit. */
export function priorityWindow(config: ResourceConfig): PriorityWindow {
  const from = numberOr(config.priorityFrom, null);
  const to = numberOr(config.priorityTo, null);
  return {
    from: from ?? (to !== null && to < USUAL.from ? LOWEST : USUAL.from),
    to: to ?? (from !== null && from > USUAL.to ? HIGHEST : USUAL.to),
  };
}

/** @returns the lowest priority of the window that nobody has, null when all are taken */
export function nextFree({ from, to }: PriorityWindow, taken: ReadonlySet<number>): number | null {
  for (let priority = from; priority <= to; priority += 1) if (!taken.has(priority)) return priority;
  return null;
}

const numberOr = (value: unknown, other: null): number | null => (typeof value === 'number' ? value : other);
