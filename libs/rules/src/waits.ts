/**
 * What a rule that is due waits for. `SLOT`: of a worker. `GAP`: until the next write to its target, for which changes are
 * gathered, or which the last one blocks. `TURN`: of its cloud account. `BACK_OFF`: after a
 * failure, in doubt, or for a restored database to be confirmed. `SUSPENSION`: another
 * program keeps removing it, or it has no effect.
 */
export const WAITS = ['SLOT', 'GAP', 'TURN', 'BACK_OFF', 'SUSPENSION'] as const;
export type Wait = (typeof WAITS)[number];

/** Shown to users: the account's write budget is spent. */
export const BUDGET_SPENT = 'Waiting for the cloud account to allow more changes';

export interface BackoffPolicy {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Backoff between attempts on one rule. */
export const RULE_BACKOFF: BackoffPolicy = { baseMs: 500, capMs: 30_000 };

/** An addition is given up after this long; a removal only with its target: `TARGET_GONE_MS`, or abandoned. */
export const APPLY_TIMEOUT_MS = 5 * 60_000;

/** An addition on a target that the provider does not find is given up after this long: the start can be repeated. */
export const NOT_FOUND_TIMEOUT_MS = 30_000;

/**
 * Exponential backoff with full jitter, so that many workers do not retry at the same moment.
 * @param attempts failed attempts so far, at least 1
 * @param random 0 (inclusive) to 1 (exclusive)
 * @returns ms to wait
 */
export function backoffMs(policy: BackoffPolicy, attempts: number, random: number): number {
  const ceiling = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(attempts - 1, 20));
  return Math.floor(random * ceiling);
}

/** Of an account's burst of write calls, additions take this share at once. */
export const ADDED_AT_ONCE = 0.8;
/** They may wait for the turns of a further share. The rest is for removals, whose turn is never behind those of additions. */
export const ADDED_IN_TURN = 0.1;

/** What waits for the write calls of one account. */
export interface WriteQueue {
  /** until its bucket of calls is full; not above 0: it is */
  readonly fullInSeconds: number;
  /** targets with changes that are due, counted up to `MAX_COUNTED` */
  readonly due: number;
}

export const MAX_COUNTED = 1000;
/** Shorter waits are not worth a mention. */
const LEAST_SECONDS = 3;
const STEP_SECONDS = 5;

/**
 * An estimate of how long one more addition waits: until the targets before it have taken their calls, and its own is left.
 * @returns seconds, a multiple of 5
 */
export function waitSeconds(
  { fullInSeconds, due }: WriteQueue,
  { burst, refillPerSecond }: { readonly burst: number; readonly refillPerSecond: number },
): number {
  const takenSeconds = Math.max(0, fullInSeconds) + (due + 1) / refillPerSecond;
  const seconds = takenSeconds - (burst * ADDED_AT_ONCE) / refillPerSecond;
  return seconds < LEAST_SECONDS ? 0 : Math.ceil(seconds / STEP_SECONDS) * STEP_SECONDS;
}
