import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import type { Provider } from '#rules';
import { JOB_PRIORITY, queueName, type ConvergeJob, type JobName } from './job-types';
import type { QueueConnection } from './queue-connection';

/** Targets of one provider. */
export interface ProviderTargets {
  readonly provider: Provider;
  readonly targetIds: readonly string[];
}

interface WakeUp {
  readonly name: JobName;
  readonly targetId: string;
}

const SEND_TIMEOUT_MS = 5000;
/** Between batches: under load one commit of the queue serves many requests. */
const BATCH_INTERVAL_MS = 50;

/**
 * Notifies workers that a target has something due. A lost wake-up costs a second, never a rule: the sweep finds the
 * same work in the database. Therefore callers do not wait; wake-ups that arrive while a batch is sent go into the next.
 */
export class WakeUps {
  private readonly queues = new Map<Provider, Queue<ConvergeJob>>();
  private readonly pending = new Map<Provider, Map<string, WakeUp>>();
  private sending: Promise<void> | null = null;
  private closed = false;

  /** @param onLost called with the reason when a batch could not be sent */
  constructor(
    private readonly connection: QueueConnection,
    private readonly onLost: (error: Error) => void,
  ) {}

  /** Returns immediately and sends in the background. Call it after the change is committed. */
  wake(name: JobName, due: readonly ProviderTargets[]): void {
    if (this.closed || due.length === 0) return;
    for (const { provider, targetIds } of due) {
      const ofProvider = this.pending.get(provider) ?? new Map<string, WakeUp>();
      for (const targetId of targetIds) ofProvider.set(`${name}-${targetId}`, { name, targetId });
      this.pending.set(provider, ofProvider);
    }
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
    });
  }

  /** Sends pending wake-ups, then closes the queues. */
  async close(): Promise<void> {
    this.closed = true;
    await this.sending;
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }

  private async sendAll(): Promise<void> {
    while (this.pending.size > 0) {
      const batches = [...this.pending];
      this.pending.clear();
      await Promise.all(batches.map(([provider, wakeUps]) => this.send(provider, wakeUps)));
      await new Promise((resolve) => setTimeout(resolve, BATCH_INTERVAL_MS));
    }
  }

  private async send(provider: Provider, wakeUps: ReadonlyMap<string, WakeUp>): Promise<void> {
    const jobs = [...wakeUps].map(([id, { name, targetId }]) => ({
      name,
      data: { targetId },
      opts: {
        // BullMQ would take ids from a sequence per queue, which the service's role may not create
        jobId: randomUUID(),
        priority: JOB_PRIORITY[name],
        // keepLastIfActive: a wake-up during its job's run makes it run once more
        deduplication: { id, keepLastIfActive: true },
        attempts: 1,
        removeOnComplete: true,
        removeOnFail: true,
      },
    }));
    try {
      await withTimeout(SEND_TIMEOUT_MS, this.queue(provider).addBulk(jobs));
    } catch (error) {
      this.onLost(error as Error);
    }
  }

  private queue(provider: Provider): Queue<ConvergeJob> {
    const known = this.queues.get(provider);
    if (known) return known;
    const queue = new Queue<ConvergeJob>(queueName(provider), { connection: this.connection.options });
    queue.on('error', this.onLost);
    this.queues.set(provider, queue);
    return queue;
  }
}

async function withTimeout(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`The queue did not answer within ${ms} ms`)), ms);
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
