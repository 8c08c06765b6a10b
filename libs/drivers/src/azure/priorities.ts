import type { ResourceConfig, Room } from '#rules';

/** Azure's limits. */
const MIN_PRIORITY = 100;
const MAX_PRIORITY = 4096;
/** Rules of a group, of both directions. */
const MAX_RULES = 1000;
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

/**
 * The room of a group as a whole, and within the priorities that resources may use, where those are fewer.
 * @param configs of the resources on it
 */
export function groupRoom(
  rules: readonly { readonly isInbound: boolean; readonly priority: number }[],
  configs: readonly ResourceConfig[],
): Room[] {
  const whole: Room = { family: null, used: rules.length, limit: MAX_RULES, limitFrom: 'PROVIDER' };
  const windows = configs.map(({ priorityFrom = null, priorityTo = null }): Room => {
    const { from, to } = priorityWindow({ priorityFrom, priorityTo });
    const within = rules.filter(({ isInbound, priority }) => isInbound && priority >= from && priority <= to);
    const used = new Set(within.map(({ priority }) => priority)).size;
    const config = { priorityFrom, priorityTo };
    return { family: null, used, limit: to - from + 1, limitFrom: 'CONFIG', config };
  });
  const distinct = new Map(windows.map((room) => [JSON.stringify(room.config), room]));
  return [whole, ...[...distinct.values()].filter(({ limit }) => limit < MAX_RULES)];
}

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);
