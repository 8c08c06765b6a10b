import type { ThrottlerStorage } from '@nestjs/throttler';

interface Window {
  hits: number;
  endsAt: number;
}

interface Count {
  readonly totalHits: number;
  /** seconds, rounded up */
  readonly timeToExpire: number;
  readonly isBlocked: boolean;
  readonly timeToBlockExpire: number;
}

const SWEEP_EVERY_MS = 60_000;
const MOST_WINDOWS = 200_000;

/** Counts in windows that begin with a client's first request: one small record for each client, whatever the limit. */
export class FixedWindows implements ThrottlerStorage {
  private readonly windows = new Map<string, Window>();
  private sweepAt = 0;

  /** @param now the time in milliseconds */
  constructor(private readonly now: () => number = Date.now) {}

  async increment(key: string, ttlMs: number, limit: number): Promise<Count> {
    const now = this.now();
    if (now >= this.sweepAt) this.sweep(now);
    const window = this.windowOf(key, now, ttlMs);
    window.hits += 1;
    const seconds = Math.max(1, Math.ceil((window.endsAt - now) / 1000));
    const isBlocked = window.hits > limit;
    return {
      totalHits: window.hits,
      timeToExpire: seconds,
      isBlocked,
      timeToBlockExpire: isBlocked ? seconds : 0,
    };
  }

  /** Takes one count back, if its window still runs. */
  giveBack(key: string): void {
    const window = this.windows.get(key);
    if (window && window.hits > 0) window.hits -= 1;
  }

  /** How many clients are being counted. */
  get size(): number {
    return this.windows.size;
  }

  private windowOf(key: string, now: number, ttlMs: number): Window {
    const known = this.windows.get(key);
    if (known && known.endsAt > now) return known;
    // deleted first, so that the map stays in the order the windows began
    this.windows.delete(key);
    const window = { hits: 0, endsAt: now + ttlMs };
    this.windows.set(key, window);
    const [oldest] = this.windows.size > MOST_WINDOWS ? this.windows.keys() : [];
    if (oldest !== undefined) this.windows.delete(oldest);
    return window;
  }

  private sweep(now: number): void {
    this.sweepAt = now + SWEEP_EVERY_MS;
    for (const [key, window] of this.windows) if (window.endsAt <= now) this.windows.delete(key);
  }
}
