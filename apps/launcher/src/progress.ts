const REMINDER_INTERVAL_MS = 5000;

const secondsSince = (since: number): number => (performance.now() - since) / 1000;

/** Prints a line when a step is done, and every 5 s one that names what is waited for. */
export class Progress {
  private readonly since = performance.now();
  /** what is waited for, and since when */
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly print: (line: string) => void,
    private readonly reminderMs = REMINDER_INTERVAL_MS,
  ) {}

  /** Runs a step. @param doing what it does, such as "starting PostgreSQL" @param done the message for its completion */
  async step<T>(doing: string, done: string, work: () => Promise<T>): Promise<T> {
    const since = performance.now();
    this.waiting.set(doing, since);
    const timer = setInterval(() => this.remind(doing), this.reminderMs);
    try {
      const result = await work();
      this.print(`  ${done.padEnd(34)} ${secondsSince(since).toFixed(1)} s`);
      return result;
    } finally {
      clearInterval(timer);
      this.waiting.delete(doing);
    }
  }

  /** Seconds since construction. */
  get total(): string {
    return secondsSince(this.since).toFixed(1);
  }

  /** Of steps that run at the same time the first one prints a line for all. */
  private remind(doing: string): void {
    if (this.waiting.keys().next().value !== doing) return;
    const all = [...this.waiting].map(([each, since]) => `${each}, ${Math.round(secondsSince(since))} s`);
    this.print(`  ... ${all.join('; ')}`);
  }
}
