import { Worker, type Job } from 'bullmq';
import type { Logger } from 'pino';
import { onceAMinute, queueName, type ConvergeJob, type QueueConnection } from '#jobs';
import type { Provider } from '#rules';
import type { ConvergenceRunner } from '#engine';

const LOCK_MS = 10_000;
/**
 * A job that a crashed worker left returns to its queue after one to two of these; its target is found by the sweep
 * within a second. Must be the same in every worker: on Redis one key throttles the check of all of them.
 */
const STALLED_CHECK_MS = 60_000;
/** Pause after a queue error, at least: BullMQ itself retries without a delay. */
const RETRY_DELAY_MS = 1000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Processes wake-ups from the queues. A job holds only a target's id; losing, delaying or repeating it is harmless. */
export class ConvergenceProcessors {
  private workers: readonly Worker<ConvergeJob>[] = [];
  private readonly paused = new Map<Worker<ConvergeJob>, NodeJS.Timeout>();
  private isClosed = false;
  private readonly warn = onceAMinute((error: Error, provider: Provider) =>
    this.log.warn({ err: error, provider }, 'The queue is not reachable; the sweep goes on'),
  );

  constructor(
    private readonly providers: readonly Provider[],
    private readonly connection: QueueConnection,
    private readonly runner: ConvergenceRunner,
    private readonly concurrency: number,
    private readonly log: Logger,
  ) {}

  /** Takes jobs from now on. */
  start(): void {
    this.workers = this.providers.map((provider) => this.startWorker(provider));
  }

  private startWorker(provider: Provider): Worker<ConvergeJob> {
    const work = (job: Job<ConvergeJob>): Promise<void> => process(job, this.runner, this.log);
    const worker = new Worker<ConvergeJob>(queueName(provider), work, {
      connection: this.connection.options,
      concurrency: this.concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      drainDelay: this.connection.idlePollSeconds,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    worker.on('error', (error) => {
      this.warn(error, provider);
      this.pause(worker);
    });
    return worker;
  }

  /** Stops taking jobs and waits for the running ones. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const timer of this.paused.values()) clearTimeout(timer);
    await Promise.all(this.workers.map((worker) => worker.close()));
  }

  private pause(worker: Worker<ConvergeJob>): void {
    if (this.isClosed || this.paused.has(worker)) return;
    void worker.pause(true);
    const resume = (): void => {
      this.paused.delete(worker);
      void worker.resume();
    };
    this.paused.set(worker, setTimeout(resume, RETRY_DELAY_MS * (1 + Math.random())));
  }
}

async function process(job: Job<ConvergeJob>, runner: ConvergenceRunner, log: Logger): Promise<void> {
  const { targetId } = job.data;
  if (typeof targetId !== 'string' || !UUID.test(targetId)) {
    log.warn({ job: job.name }, 'A job without a target was dropped');
    return;
  }
  await runner.wake(targetId);
}
