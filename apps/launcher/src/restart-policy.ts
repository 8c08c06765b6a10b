const MIN_DELAY_MS = 200;
const MAX_DELAY_MS = 5000;
const STABLE_AFTER_MS = 30_000;
const MAX_EXITS = 5;
const EXIT_WINDOW_MS = 30_000;

/** Backoff of restarts: 0.2 s, doubling up to 5 s, reset after a run of 30 s. */
export class RestartPolicy {
  private exits: number[] = [];
  private delayMs = MIN_DELAY_MS;
  private startedAt = 0;

  /** @param now a monotonic clock in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  started(): void {
    this.startedAt = this.now();
  }

  /** @returns milliseconds to wait before the next start */
  exited(): number {
    const now = this.now();
    this.exits = [...this.exits.filter((at) => now - at < EXIT_WINDOW_MS), now];
    if (now - this.startedAt >= STABLE_AFTER_MS) this.delayMs = MIN_DELAY_MS;
    const { delayMs } = this;
    this.delayMs = Math.min(delayMs * 2, MAX_DELAY_MS);
    return delayMs;
  }

  /** Five exits within 30 s. */
  get isExhausted(): boolean {
    return this.exits.length >= MAX_EXITS;
  }
}
