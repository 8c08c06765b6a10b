import { RETRYABLE_KINDS, type DriverErrorKind } from '#rules';
import { asCallFailure, type CallFailure } from '../call-failure';
import type { Outcomes } from '../outcomes';

/** One write and its key in the outcomes. */
export interface Write {
  readonly key: string;
  /** Sends the write. @returns a function that waits for its completion */
  readonly start: () => Promise<AwaitCompletion>;
}

export type AwaitCompletion = () => Promise<{
  /** of the rule, when it is known */
  readonly id: string | null;
  /** the write created it */
  readonly isNew?: true;
  /** there was nothing to remove */
  readonly wasAbsent?: true;
}>;

const MAX_CONCURRENCY = 10;
/** Kinds of failures that would repeat for the next write. */
const HALTING: ReadonlySet<DriverErrorKind> = new Set([
  'throttled',
  'transient',
  'denied',
  'target-missing',
  'quota',
]);

/**
 * Sends writes with increasing concurrency, starting with one, and waits for their completion in parallel. After a
 * failure that would repeat for the next write, no further write is sent.
 */
export async function sendPaced(writes: readonly Write[], outcomes: Outcomes): Promise<void> {
  const completions: Promise<void>[] = [];
  let sent = 0;
  for (
    let width = 1;
    sent < writes.length && !outcomes.haltedBy;
    width = Math.min(2 * width, MAX_CONCURRENCY)
  ) {
    const wave = writes.slice(sent, sent + width);
    sent += wave.length;
    await Promise.all(
      wave.map(async ({ key, start }) => {
        const awaitCompletion = await attempt(key, outcomes, start);
        if (awaitCompletion) completions.push(complete(key, outcomes, awaitCompletion));
      }),
    );
  }
  outcomes.unsent(writes.slice(sent).map(({ key }) => key));
  await Promise.all(completions);
}

async function complete(key: string, outcomes: Outcomes, awaitCompletion: AwaitCompletion): Promise<void> {
  const completed = await attempt(key, outcomes, awaitCompletion);
  if (!completed) return;
  const { id, ...more } = completed;
  outcomes.done(key, id, more);
}

/**
 * Whether a failure would repeat for the next write. An accepted write whose operation may not be polled, or is not
 * found, says nothing about the next write.
 */
const repeatsForNext = ({ kind, settled: isSettled }: CallFailure): boolean =>
  HALTING.has(kind) && (isSettled || RETRYABLE_KINDS.has(kind));

/** Records a failure in the outcomes. @returns null when the work failed */
async function attempt<T>(key: string, outcomes: Outcomes, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    const failure = asCallFailure(error);
    if (repeatsForNext(failure)) outcomes.halt([key], failure);
    else outcomes.failed([key], failure);
    return null;
  }
}
