import type { Reading } from '#engine-store';
import type { ObservedRule } from '#rules';
import type { Timing } from './timing';

/** The rules read from a target, with start and end on the process clock. */
export interface TimedRead {
  readonly rules: ObservedRule[];
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * Age of the read, which the database subtracts from its own clock.
 * @param first the read of the pass before its changes
 */
export function age(
  timing: Pick<Timing, 'now'>,
  { startedAt, endedAt }: TimedRead,
  first: Pick<TimedRead, 'startedAt'> = { startedAt },
): Reading {
  const now = timing.now();
  return {
    startedAgoMs: now - startedAt,
    firstStartedAgoMs: now - first.startedAt,
    endedAgoMs: now - endedAt,
  };
}
