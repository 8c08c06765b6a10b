const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** After the first attempt, the second … The last attempt is made after five days, when `settle` gives up a silent receiver. */
const DELAYS_MS: readonly number[] = [
  5000,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
  7 * HOUR_MS,
];
/** Attempts at what failed together are spread. */
const JITTER = 0.2;
/** A receiver cannot keep its records waiting for longer than this beyond the schedule. */
const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * When a failed delivery is tried again.
 * @param attempts so far, at least 1
 * @param random 0 (inclusive) to 1 (exclusive)
 * @param retryAfterMs what the receiver asks for; null: nothing
 * @returns ms to wait; null: it is not tried again
 */
export function retryInMs(attempts: number, random: number, retryAfterMs: number | null): number | null {
  const delay = DELAYS_MS[attempts - 1];
  if (delay === undefined) return null;
  const asked = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return Math.round(Math.max(delay, asked) * (1 + random * JITTER));
}
