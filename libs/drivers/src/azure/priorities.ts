import type { ResourceConfig } from '#rules';

/** Azure's limits. */
const MIN_PRIORITY = 100;
const MAX_PRIORITY = 4096;
const DEFAULT_WINDOW = { from: 1000, to: 3999 };

/** The priorities that the rules of a resource may use, inclusive. */
export interface PriorityWindow {
  readonly from: number;
  readonly to: number;
}

/** The window of a resource's config. A missing bound is the default one, or Azure's limit if that would be empty. */
export function priorityWindow(config: ResourceConfig): PriorityWindow {
  const from = numberOrNull(config.priorityFrom);
  const to = numberOrNull(config.priorityTo);
  return {
    from: from ?? (to !== null && to < DEFAULT_WINDOW.from ? MIN_PRIORITY : DEFAULT_WINDOW.from),
    to: to ?? (from !== null && from > DEFAULT_WINDOW.to ? MAX_PRIORITY : DEFAULT_WINDOW.to),
  };
}

/** @returns the lowest free priority of the window, null when none is free */
export function nextFree({ from, to }: PriorityWindow, taken: ReadonlySet<number>): number | null {
  for (let priority = from; priority <= to; priority += 1) if (!taken.has(priority)) return priority;
  return null;
}

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);
