const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 5000;
const STEADY_AFTER_MS = 30_000;
const HOPELESS_DEATHS = 5;
const WINDOW_MS = 30_000;

/** How soon a process is started again: 0.2 s, doubling to 5 s, from the beginning once it has lived for 30 s. */
export class RestartPolicy {
  private deaths: number[] = [];
  private waitMs = FIRST_WAIT_MS;
  private startedAt = 0;

  /** @param now a steady clock in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  started(): void {
    this.startedAt = this.now();
  }

  /** @returns milliseconds to wait before the next start */
  died(): number {
    const now = this.now();
    this.deaths = [...this.deaths.filter((at) => now - at < WINDOW_MS), now];
    if (now - this.startedAt >= STEADY_AFTER_MS) this.waitMs = FIRST_WAIT_MS;
    const waitMs = this.waitMs;
    this.waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    return waitMs;
  }

  /** Five deaths within 30 s. */
  get isHopeless(): boolean {
    return this.deaths.length >= HOPELESS_DEATHS;
  }
}
