import { DriverError } from '#drivers';
import type { Reading } from '#engine-store';
import type { ObservedRule } from '#rules';
import type { Timing } from './timing';

type Clock = Pick<Timing, 'now'>;

/** The rules read from a target, with start and end on the process clock. */
export interface TimedRead {
  readonly rules: readonly ObservedRule[];
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A read that took longer than this is repeated. */
export const SLOW_READ_MS = 3000;

/**
 * Reads, and reads again, once, when it took long: the process may have been paused after the provider answered, and the time
 * does not show how old the answer is.
 */
export async function readFresh(timing: Clock, read: () => Promise<ObservedRule[]>): Promise<TimedRead> {
  const first = await readTimed(timing, read);
  return first.endedAt - first.startedAt > SLOW_READ_MS ? readTimed(timing, read) : first;
}

async function readTimed(timing: Clock, read: () => Promise<ObservedRule[]>): Promise<TimedRead> {
  const startedAt = timing.now();
  const rules = await read();
  return { rules, startedAt, endedAt: timing.now() };
}

/** A read whose refusal does not matter: the next pass reads again. @returns null: the provider refused it */
export async function readOrNull(
  timing: Clock,
  read: () => Promise<ObservedRule[]>,
): Promise<TimedRead | null> {
  try {
    return await readTimed(timing, read);
  } catch (error) {
    if (error instanceof DriverError) return null;
    throw error;
  }
}

/**
 * Age of the read, which the database subtracts from its own clock.
 * @param first the read of the pass before its changes
 */
export function age(
  timing: Clock,
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
