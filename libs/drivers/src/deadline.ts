import { setTimeout as pause } from 'node:timers/promises';

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

  /** Whether enough time is left for this many requests, even if each takes its full timeout. */
  hasTimeFor(requests: number): boolean {
    return performance.now() + requests * REQUEST_TIMEOUT_MS <= this.endsAt;
  }

  /** @throws the signal's reason when the deadline comes first */
  async pause(milliseconds: number): Promise<void> {
    try {
      await pause(milliseconds, undefined, { signal: this.signal });
    } catch {
      this.signal.throwIfAborted();
    }
  }
}
