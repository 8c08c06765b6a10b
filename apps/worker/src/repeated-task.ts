import type { CloudAccess, Sweeper } from '#engine';
import type { EngineStore } from '#engine-store';
import type { Database } from '#entities';
import type { TenantStores } from '#tenant-store';
import type { Logger } from 'pino';

/** From the end of a run, even when it requests the next one immediately. */
const MIN_DELAY_MS = 200;

const WATCH_INTERVAL_MS = 1000;

/** What the tasks of the worker work with. */
export interface TaskParts {
  readonly database: Database;
  readonly stores: TenantStores;
  readonly engine: EngineStore;
  readonly sweeper: Sweeper;
  readonly clouds: CloudAccess;
  readonly log: Logger;
}

/** Periodic work, one run at a time. A failed run is logged; the next one is scheduled as usual. */
export class RepeatedTask {
  private timer: NodeJS.Timeout | null = null;
  private watch: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private succeededAt = performance.now();
  private readonly stopping = new AbortController();
  private condition = (): boolean => true;

  /**
   * @param intervalMs from the start of one run to the start of the next, unless a run takes longer
   * @param work must check `stopping` when it takes long; may return in how many ms it should run again, if that is earlier
   */
  constructor(
    readonly name: string,
    private readonly intervalMs: number,
    private readonly work: (stopping: AbortSignal) => Promise<number | null | void>,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.running = this.runAndScheduleNext();
  }

  /** Skips runs while the condition does not hold. */
  onlyWhile(condition: () => boolean): this {
    this.condition = condition;
    return this;
  }

  /**
   * Calls `act` once no run has succeeded for this time, also while one hangs. Only time in which this process runs counts:
   * after a pause its tasks get their turn first.
   */
  onFailingFor(ms: number, act: () => void): void {
    let failingMs = 0;
    let seenAt = this.succeededAt;
    this.watch = setInterval(() => {
      failingMs = this.succeededAt === seenAt ? failingMs + WATCH_INTERVAL_MS : 0;
      seenAt = this.succeededAt;
      if (failingMs < ms) return;
      clearInterval(this.watch);
      act();
    }, WATCH_INTERVAL_MS).unref();
  }

  /** Time since the last successful run; before the first one: since construction. */
  get sinceLastSuccessMs(): number {
    return performance.now() - this.succeededAt;
  }

  /** For how long a run that succeeds is late; 0 while none is. */
  get overdueSeconds(): number {
    return Math.max(0, this.sinceLastSuccessMs - this.intervalMs) / 1000;
  }

  /** Schedules no further run and waits for the current one. */
  async stop(): Promise<void> {
    this.stopping.abort();
    if (this.timer) clearTimeout(this.timer);
    clearInterval(this.watch);
    await this.running;
  }

  private async runAndScheduleNext(): Promise<void> {
    const { signal } = this.stopping;
    const startedAt = performance.now();
    let requestedMs: number | null = null;
    try {
      if (this.condition()) requestedMs = (await this.work(signal)) ?? null;
      this.succeededAt = performance.now();
    } catch (error) {
      this.log.error({ err: error, task: this.name }, 'A repeated task failed; its next run follows');
    }
    if (signal.aborted) return;
    const regular = Math.max(0, this.intervalMs - (performance.now() - startedAt));
    const wait = requestedMs === null ? regular : Math.min(regular, Math.max(requestedMs, MIN_DELAY_MS));
    this.timer = setTimeout(() => this.start(), wait);
  }
}
