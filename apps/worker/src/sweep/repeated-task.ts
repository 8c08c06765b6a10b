import type { Logger } from 'pino';

/** Work done again and again, one run at a time. A run that fails is logged, and the next one follows. */
export class RepeatedTask {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  /** @param everyMs from the start of one run to the start of the next, unless a run takes longer */
  constructor(
    private readonly name: string,
    private readonly everyMs: number,
    private readonly work: () => Promise<void>,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.running = this.runAndPlanNext();
  }

  /** Waits for the run under way; none follows. */
  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  private async runAndPlanNext(): Promise<void> {
    const began = performance.now();
    try {
      await this.work();
    } catch (error) {
      this.log.error({ err: error, task: this.name }, 'A repeated task failed; its next run follows');
    }
    if (this.stopped) return;
    const wait = Math.max(0, this.everyMs - (performance.now() - began));
    this.timer = setTimeout(() => this.start(), wait);
  }
}
