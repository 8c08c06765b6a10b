import type { ThrottlerStorage } from '@nestjs/throttler';

/** The state of a client's window. */
export interface Count {
  readonly totalHits: number;
  /** seconds, rounded up, at least 1 */
  readonly timeToExpire: number;
  readonly isBlocked: boolean;
  /** seconds; 0 while nothing is refused */
  readonly timeToBlockExpire: number;
}

/**
 * Counts requests in windows that start with a client's first request. Own code: the memory store of rate-limiter-flexible
 * keeps a timer for every key and does not limit their number, which a client with many addresses chooses.
 */
export interface RequestWindows extends ThrottlerStorage {
  increment(key: string, ttlMs: number, limit: number): Promise<Count>;
  /** Reverts one count if its window has not ended. */
  decrement(key: string): Promise<void>;
}

/** @param leftMs until the window ends */
export function countOf(totalHits: number, leftMs: number, limit: number): Count {
  const seconds = Math.max(1, Math.ceil(leftMs / 1000));
  const isBlocked = totalHits > limit;
  return { totalHits, timeToExpire: seconds, isBlocked, timeToBlockExpire: isBlocked ? seconds : 0 };
}
