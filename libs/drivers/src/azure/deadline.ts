/** How long Azure may take to answer one request. */
const REQUEST_MS = 5000;

/** The time that one call of the driver may take, over all its requests. */
export class Deadline {
  private readonly endsAt: number;
  /** aborts at the end */
  readonly signal: AbortSignal;

  /** @param milliseconds from now */
  constructor(milliseconds: number) {
    this.endsAt = performance.now() + milliseconds;
    this.signal = AbortSignal.timeout(milliseconds);
  }

  /** What one request may still take, milliseconds; never less than 1. */
  get requestMs(): number {
    return Math.max(1, Math.min(REQUEST_MS, this.endsAt - performance.now()));
  }

  /** Whether there is time for another request. */
  get hasTime(): boolean {
    return performance.now() + REQUEST_MS <= this.endsAt;
  }

  /** @throws the signal's reason when the end comes first */
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
