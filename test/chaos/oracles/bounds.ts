import { availableParallelism, loadavg } from 'node:os';
import type { FaultWindow } from './evidence';

/** Maximum lateness of a removal without faults, in ms. */
export const HEALTHY_BOUND_MS = 5000;
/** Maximum time from the end of a fault until all due work is done, in ms. */
const RECOVERY_BOUND_MS = 60_000;
/** Maximum time until an unwanted rule that is still present is reported, in ms. */
const REPORT_BOUND_MS = 60_000;
/** The sweeper releases a session shortly after its end, and the alarm runs every few seconds; ms. */
const REPORT_TOLERANCE_MS = 3000;
/** Interval of the comparison of each target with the database, in ms. */
export const RECONCILE_INTERVAL_MS = 45_000;
/** Maximum clock difference of two processes on one machine, in ms. */
export const CLOCK_TOLERANCE_MS = 100;

const MAX_READ_MS = 250;
/** From the end of a read until what it showed is recorded, on a busy machine, in ms. */
export const MAX_SETTLE_MS = 2000;
const MAX_SLOW_READ_MS = 10_000;

/** The load per core, at least 1: bounds grow with it. */
export const machineSlowness = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/**
 * When due work must be done.
 * @param dueAt ms since 1970
 * @returns ms since 1970; infinity while a fault lasts
 */
export function deadline(
  dueAt: number,
  faults: readonly FaultWindow[],
  slowness = machineSlowness(),
): number {
  return extended(dueAt + HEALTHY_BOUND_MS * slowness, dueAt, faults, slowness);
}

/**
 * When an unwanted rule must have been reported, if it is still present.
 * @param knownAt when the product could detect it, ms since 1970
 * @returns ms since 1970; infinity while the database or the workers are down
 */
export function reportDeadline(
  knownAt: number,
  faults: readonly FaultWindow[],
  slowness = machineSlowness(),
): number {
  const relevant = faults.filter(({ cloudOnly }) => !cloudOnly);
  return extended(knownAt + REPORT_BOUND_MS + REPORT_TOLERANCE_MS * slowness, knownAt, relevant, slowness);
}

/** Extends the bound to the end of the recovery from each fault that overlaps it. */
function extended(bound: number, dueAt: number, faults: readonly FaultWindow[], slowness: number): number {
  let until = bound;
  for (const { from, to } of [...faults].sort((a, b) => a.from - b.from)) {
    const recovered = to === null ? Infinity : to + RECOVERY_BOUND_MS * slowness;
    if (from <= until && recovered >= dueAt) until = Math.max(until, recovered);
  }
  return until;
}

/** Whether a fault or its recovery overlaps the span. */
export const isUnderFault = (from: number, to: number, faults: readonly FaultWindow[]): boolean =>
  faults.some((fault) => fault.from <= to && (fault.to === null || fault.to + RECOVERY_BOUND_MS >= from));

/** Maximum duration of a read, in ms: it shows the state of some moment within it. Longer under a fault. */
export const maxReadMs = (at: number, faults: readonly FaultWindow[]): number =>
  isUnderFault(at, at, faults) ? MAX_SLOW_READ_MS : MAX_READ_MS;
