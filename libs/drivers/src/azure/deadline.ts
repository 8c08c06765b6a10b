/** Timeout of one request. */
const REQUEST_TIMEOUT_MS = 5000;

/** The time limit of one driver call, over all its requests. */
export class Deadline {
  private readonly endsAt: number;
  /** aborts at the deadline */
  readonly signal: AbortSignal;

  /** @param milliseconds from now */
  constructor(milliseconds: number) {
    this.endsAt = performance.now() + milliseconds;
    this.signal = AbortSignal.timeout(milliseconds);
  }

  /** Timeout of the next request in milliseconds, at least 1. */
  get requestTimeoutMs(): number {
    return Math.max(1, Math.min(REQUEST_TIMEOUT_MS, this.endsAt - performance.now()));
  }

  /** Whether enough time for another request is left. */
  get hasTime(): boolean {
    return performance.now() + REQUEST_TIMEOUT_MS <= this.endsAt;
  }

  /** @throws the signal's reason when the deadline comes first */
  async pause(milliseconds: number): Promise<void> {
    this.signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        reject(this.signal.reason as Error);
      };
      const timer = setTimeout(() => {
        this.signal.removeEventListener('abort', stop);
        resolve();
      }, milliseconds);
      this.signal.addEventListener('abort', stop, { once: true });
    });
  }
}
