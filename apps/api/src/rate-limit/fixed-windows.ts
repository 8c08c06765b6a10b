import { countOf, type Count, type RequestWindows } from './request-windows';

interface Window {
  hits: number;
  endsAt: number;
}

const SWEEP_INTERVAL_MS = 60_000;
const MAX_WINDOWS = 200_000;

/** Windows in the memory of this process: one record per client. */
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

  async decrement(key: string): Promise<void> {
    const window = this.windows.get(key);
    if (window && window.hits > 0) window.hits -= 1;
  }

  /** Number of clients with a window. */
  get size(): number {
    return this.windows.size;
  }

  private windowOf(key: string, now: number, ttlMs: number): Window {
    const existing = this.windows.get(key);
    if (existing && existing.endsAt > now) return existing;
    // deleted first, so that the map stays ordered by the start of the windows
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
