import { availableParallelism, loadavg } from 'node:os';
import type { FaultWindow } from './evidence';

/** How late a closing may be while nothing is broken, in ms. */
export const HEALTHY_BOUND_MS = 5000;
/** How long after the end of a fault everything due must be done, in ms. */
export const RECOVERY_BOUND_MS = 60_000;
/** By how much the clocks of two processes on one machine may differ, in ms. */
export const CLOCKS_MS = 100;

/** A machine that has more work than cores is slow with everything: bounds grow with its load. */
export const machineSlowness = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/**
 * Until when something that fell due must be done.
 * @param dueAt ms since 1970
 * @returns ms since 1970; infinity while a fault that hinders it lasts
 */
export function deadline(
  dueAt: number,
  faults: readonly FaultWindow[],
  slowness = machineSlowness(),
): number {
  let until = dueAt + HEALTHY_BOUND_MS * slowness;
  for (const { from, to } of [...faults].sort((a, b) => a.from - b.from)) {
    const recovered = to === null ? Infinity : to + RECOVERY_BOUND_MS * slowness;
    if (from <= until && recovered >= dueAt) until = Math.max(until, recovered);
  }
  return until;
}

/** Whether a fault lasted, or was not yet recovered from, at any time of a span. */
export const isUnderFault = (from: number, to: number, faults: readonly FaultWindow[]): boolean =>
  faults.some((fault) => fault.from <= to && (fault.to === null || fault.to + RECOVERY_BOUND_MS >= from));
