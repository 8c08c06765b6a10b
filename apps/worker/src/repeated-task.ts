import type { Logger } from 'pino';

/** From the end of a run, however soon the next one is asked for: what takes long is not to run without a pause. */
const MIN_DELAY_MS = 200;

/** Work done again and again, one run at a time. A run that fails is logged, and the next one follows. */
export class RepeatedTask {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private succeededAt = performance.now();
  private readonly stopping = new AbortController();

  /**
   * @param everyMs from the start of one run to the start of the next, unless a run takes longer
   * @param work what takes long looks at `stopping` in between; may tell in how many ms the next run is worth its while,
   *   when that is sooner
   */
  constructor(
    private readonly name: string,
    private readonly everyMs: number,
    private readonly work: (stopping: AbortSignal) => Promise<number | null | void>,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.running = this.runAndPlanNext();
  }

  /** Since a run ended well; before the first one: since it was made. */
  get sinceLastSuccessMs(): number {
    return performance.now() - this.succeededAt;
  }

  /** Waits for the run under way; none follows. */
  async stop(): Promise<void> {
    this.stopping.abort();
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  private async runAndPlanNext(): Promise<void> {
    const { signal } = this.stopping;
    const began = performance.now();
    let soonerMs: number | null = null;
    try {
      soonerMs = (await this.work(signal)) ?? null;
      this.succeededAt = performance.now();
    } catch (error) {
      this.log.error({ err: error, task: this.name }, 'A repeated task failed; its next run follows');
    }
    if (signal.aborted) return;
    const usual = Math.max(0, this.everyMs - (performance.now() - began));
    const wait = soonerMs === null ? usual : Math.min(usual, Math.max(soonerMs, MIN_DELAY_MS));
    this.timer = setTimeout(() => this.start(), wait);
  }
}
