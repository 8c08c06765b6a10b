export interface BackoffPolicy {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Between tries at one cloud rule: half a second at first, never more than half a minute. */
export const RULE_BACKOFF: BackoffPolicy = { baseMs: 500, capMs: 30_000 };

/** Adding is given up when it has not worked for this long; removing is never given up. */
export const APPLY_TIMEOUT_MS = 5 * 60_000;

/**
 * Full jitter: anywhere from nothing to the exponential ceiling, so that many workers do not come back together.
 * @param attempts failed tries so far, at least 1
 * @param random 0 (inclusive) to 1 (exclusive)
 * @returns milliseconds to wait
 */
export function backoffMs(policy: BackoffPolicy, attempts: number, random: number): number {
  const ceiling = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(attempts - 1, 20));
  return Math.floor(random * ceiling);
}
