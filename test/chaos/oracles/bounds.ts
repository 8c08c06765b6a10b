import { availableParallelism, loadavg } from 'node:os';
import type { FaultWindow } from './evidence';

/** How late a closing may be while nothing is broken, in ms. */
export const HEALTHY_BOUND_MS = 5000;
/** How long after the end of a fault everything due must be done, in ms. */
export const RECOVERY_BOUND_MS = 60_000;
/** Within what time a rule that should be gone, and is not, is reported, in ms. */
export const REPORT_BOUND_MS = 60_000;
/** The sweeper releases a session a moment after its end, and the alarm runs every few seconds. */
export const REPORT_TOLERANCE_MS = 3000;
/** How often each target is compared with the database, in ms. */
export const RECONCILE_INTERVAL_MS = 45_000;
/** By how much the clocks of two processes on one machine may differ, in ms. */
export const CLOCKS_MS = 100;

const READ_TAKES_MS = 250;
const SLOW_READ_TAKES_MS = 10_000;

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
  return extended(dueAt + HEALTHY_BOUND_MS * slowness, dueAt, faults, slowness);
}

/**
 * Until when a rule that is unwanted must have been reported, if it is still present then.
 * @param knownAt when the product could know, ms since 1970
 * @returns ms since 1970; infinity while the database or the workers are away
 */
export function reportDeadline(
  knownAt: number,
  faults: readonly FaultWindow[],
  slowness = machineSlowness(),
): number {
  const hindering = faults.filter(({ cloudOnly }) => !cloudOnly);
  return extended(knownAt + REPORT_BOUND_MS + REPORT_TOLERANCE_MS * slowness, knownAt, hindering, slowness);
}

/** Faults that overlap put the bound off until they are recovered from. */
function extended(bound: number, dueAt: number, faults: readonly FaultWindow[], slowness: number): number {
  let until = bound;
  for (const { from, to } of [...faults].sort((a, b) => a.from - b.from)) {
    const recovered = to === null ? Infinity : to + RECOVERY_BOUND_MS * slowness;
    if (from <= until && recovered >= dueAt) until = Math.max(until, recovered);
  }
  return until;
}

/** Whether a fault lasted, or was not yet recovered from, at any time of a span. */
export const isUnderFault = (from: number, to: number, faults: readonly FaultWindow[]): boolean =>
  faults.some((fault) => fault.from <= to && (fault.to === null || fault.to + RECOVERY_BOUND_MS >= from));

/** A read answers with what is so at some time between its arrival and this, in ms; under fault it may be slow. */
export const readTakesMs = (at: number, faults: readonly FaultWindow[]): number =>
  isUnderFault(at, at, faults) ? SLOW_READ_TAKES_MS : READ_TAKES_MS;
