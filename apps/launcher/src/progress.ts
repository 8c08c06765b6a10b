const REMINDER_INTERVAL_MS = 5000;

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

/** Tells how far a start is: a line for each step when it is done, and one each 5 s while it takes longer. */
export class Progress {
  private readonly since = performance.now();

  constructor(private readonly say: (line: string) => void) {}

  /** Runs a step. @param done what is true after it */
  async step<T>(done: string, work: () => Promise<T>): Promise<T> {
    const since = performance.now();
    const timer = setInterval(
      () => this.say(`  ... ${done}: ${seconds(since)} s so far`),
      REMINDER_INTERVAL_MS,
    );
    try {
      const result = await work();
      this.say(`  ${done.padEnd(34)} ${seconds(since)} s`);
      return result;
    } finally {
      clearInterval(timer);
    }
  }

  /** Seconds since the beginning. */
  get total(): string {
    return seconds(this.since);
  }
}
