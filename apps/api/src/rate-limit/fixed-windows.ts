import { countOf, type Count, type RequestWindows } from './request-windows';

interface Window {
  hits: number;
  endsAt: number;
}

const SWEEP_INTERVAL_MS = 60_000;
const MAX_WINDOWS = 200_000;

/** Windows in this process's memory: one small record for each client, whatever the limit. */
export class FixedWindows implements RequestWindows {
  private readonly windows = new Map<string, Window>();
  private sweepAt = 0;

  /** @param now the time in milliseconds */
  constructor(private readonly now: () => number = Date.now) {}

  async increment(key: string, ttlMs: number, limit: number): Promise<Count> {
    const now = this.now();
    if (now >= this.sweepAt) this.sweep(now);
    const window = this.windowOf(key, now, ttlMs);
    window.hits += 1;
    return countOf(window.hits, window.endsAt - now, limit);
  }

  async giveBack(key: string): Promise<void> {
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
    const [oldest] = this.windows.size > MAX_WINDOWS ? this.windows.keys() : [];
    if (oldest !== undefined) this.windows.delete(oldest);
    return window;
  }

  private sweep(now: number): void {
    this.sweepAt = now + SWEEP_INTERVAL_MS;
    for (const [key, window] of this.windows) if (window.endsAt <= now) this.windows.delete(key);
  }
}
