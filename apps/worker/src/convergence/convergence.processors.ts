import { Worker, type Job } from 'bullmq';
import type { Logger } from 'pino';
import { queueName, type ConvergeJob, type QueueConnection } from '#jobs';
import type { Provider } from '#rules';
import type { ConvergenceRunner } from './convergence-runner';

const LOCK_MS = 10_000;
/** The same in every worker: on Redis one key throttles the check of all. */
const STALLED_CHECK_MS = 5000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Takes wake-ups off the queues. A job is a key and no more; lost, late or repeated, it does no harm. */
export class ConvergenceProcessors {
  private readonly workers: Worker<ConvergeJob>[];

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
      worker.on('error', (error) =>
        log.warn({ err: error, provider }, 'The queue is not reachable; the sweep goes on'),
      );
      return worker;
    });
  }

  /** Takes no more jobs and waits for those under way. */
  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
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
