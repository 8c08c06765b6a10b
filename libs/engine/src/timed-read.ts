import type { Reading } from '#engine-store';
import type { ObservedRule } from '#rules';
import type { Timing } from './timing';

/** The rules read from a target, with start and end on the process clock. */
export interface TimedRead {
  readonly rules: ObservedRule[];
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A read that took longer than this is repeated. */
export const SLOW_READ_MS = 3000;

/**
 * Reads, and reads again, once, when it took long: the process may have been paused after the provider answered, and the time
 * does not show how old the answer is.
 */
export async function readFresh(read: () => Promise<TimedRead>): Promise<TimedRead> {
  const first = await read();
  return first.endedAt - first.startedAt > SLOW_READ_MS ? read() : first;
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
