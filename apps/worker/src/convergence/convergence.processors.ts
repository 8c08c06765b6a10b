import { Worker, type Job } from 'bullmq';
import type { Logger } from 'pino';
import { queueName, type ConvergeJob, type QueueConnection } from '#jobs';
import type { Provider } from '#rules';
import type { ConvergenceRunner } from '#engine';

const LOCK_MS = 10_000;
/** The same in every worker: on Redis one key throttles the check of all. */
const STALLED_CHECK_MS = 5000;
/** After an error of the queue, where BullMQ would ask again at once, and again. */
const RETRY_DELAY_MS = 1000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Takes wake-ups off the queues. A job is a key and no more; lost, late or repeated, it does no harm. */
export class ConvergenceProcessors {
  private readonly workers: Worker<ConvergeJob>[];
  private readonly paused = new Map<Worker<ConvergeJob>, NodeJS.Timeout>();
  private isClosed = false;

  constructor(
    providers: readonly Provider[],
    connection: QueueConnection,
    runner: ConvergenceRunner,
    concurrency: number,
    log: Logger,
  ) {
    this.workers = providers.map((provider) => {
      const worker = new Worker<ConvergeJob>(queueName(provider), (job) => process(job, runner, log), {
        connection: connection.options,
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      });
      worker.on('error', (error) => {
        log.warn({ err: error, provider }, 'The queue is not reachable; the sweep goes on');
        this.pause(worker);
      });
      return worker;
    });
  }

  /** Takes no more jobs and waits for those under way. */
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
    this.paused.set(worker, setTimeout(resume, RETRY_DELAY_MS));
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
