import type { Reading } from '#engine-store';
import type { ObservedRule } from '#rules';
import type { Timing } from './timing';

/** What a target showed, with this process's clock around the read. */
export interface TimedRead {
  readonly rules: ObservedRule[];
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * How old the read is by now: the database subtracts that from its own clock.
 * @param first what the pass read before it changed anything
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
