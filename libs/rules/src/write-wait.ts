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
