/** Limits how many tasks run concurrently; the others wait in order of arrival. */
export class ConcurrencyLimiter {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly maxConcurrent: number) {}

  /** Runs `work` as soon as a slot is free. @returns what it returns; throws what it throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.maxConcurrent) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // the slot is handed over, so that a new arrival cannot take it first
      if (next) next();
      else this.running -= 1;
    }
  }
}
