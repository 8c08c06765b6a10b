import { RETRYABLE_KINDS, type DriverErrorKind } from '#rules';
import { asCallFailure, CallFailure } from '../call-failure';
import type { Outcomes } from '../outcomes';

/** One write: its key in the outcomes, and what does it. */
export interface Write {
  readonly key: string;
  /** Sends it. @returns what waits for its end, and gives the rule's id */
  readonly start: () => Promise<() => Promise<string | null>>;
}

const MAX_CONCURRENCY = 10;
/** What the next write would meet too. */
const HALTING: ReadonlySet<DriverErrorKind> = new Set([
  'throttled',
  'transient',
  'denied',
  'target-missing',
  'quota',
]);

/**
 * Sends writes, the first alone, then ever more at once, and waits for their ends side by side. After a failure that
 * the next one would meet too, nothing more is sent.
 * @param deadline on the clock of `performance.now`: nothing is sent after it
 */
export async function sendPaced(
  writes: readonly Write[],
  outcomes: Outcomes,
  deadline: number,
): Promise<void> {
  const ends: Promise<void>[] = [];
  let sent = 0;
  for (
    let width = 1;
    sent < writes.length && !outcomes.haltedBy;
    width = Math.min(2 * width, MAX_CONCURRENCY)
  ) {
    if (performance.now() >= deadline) {
      outcomes.haltUnsent([], new CallFailure('transient', 'The time for one batch was over', null, true));
      break;
    }
    const wave = writes.slice(sent, sent + width);
    sent += wave.length;
    await Promise.all(
      wave.map(async ({ key, start }) => {
        const end = await settled(key, outcomes, start);
        if (end) ends.push(settleEnd(key, outcomes, end));
      }),
    );
  }
  outcomes.unsent(writes.slice(sent).map(({ key }) => key));
  await Promise.all(ends);
}

async function settleEnd(key: string, outcomes: Outcomes, end: () => Promise<string | null>): Promise<void> {
  const found = await settled(key, outcomes, async () => ({ id: await end() }));
  if (found) outcomes.done(key, found.id);
}

/**
 * Whether the next write would meet a failure too. A write that was accepted and may not be watched, or not be found,
 * says nothing about the next one.
 */
const concernsNext = ({ kind, settled: isSettled }: CallFailure): boolean =>
  HALTING.has(kind) && (isSettled || RETRYABLE_KINDS.has(kind));

/** @returns null when it failed, which the outcomes then say */
async function settled<T>(key: string, outcomes: Outcomes, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    const failure = asCallFailure(error);
    if (concernsNext(failure)) outcomes.halt([key], failure);
    else outcomes.failed([key], failure);
    return null;
  }
}
