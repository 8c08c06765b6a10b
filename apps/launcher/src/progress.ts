const REMINDER_INTERVAL_MS = 5000;

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1);

/** Prints a line when a step is done, and a reminder every 5 s while it runs. */
export class Progress {
  private readonly since = performance.now();

  constructor(private readonly print: (line: string) => void) {}

  /** Runs a step. @param done the message for its completion */
  async step<T>(done: string, work: () => Promise<T>): Promise<T> {
    const since = performance.now();
    const timer = setInterval(
      () => this.print(`  ... ${done}: ${seconds(since)} s so far`),
      REMINDER_INTERVAL_MS,
    );
    try {
      const result = await work();
      this.print(`  ${done.padEnd(34)} ${seconds(since)} s`);
      return result;
    } finally {
      clearInterval(timer);
    }
  }

  /** Seconds since construction. */
  get total(): string {
    return seconds(this.since);
  }
}
