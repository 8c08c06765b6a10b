import { randomUUID } from 'node:crypto';
import { type ConnectionOptions, Queue } from 'bullmq';
import { JOB_PRIORITY } from './job-types';

/** Proves that jobs can be sent: by the scripts that send them, in a queue of its own that no worker reads. */
export class QueueProbe {
  private readonly jobId = randomUUID();
  private queue: Queue | null = null;

  constructor(private readonly connection: ConnectionOptions) {}

  /**
   * Adds a job and removes it.
   * @throws Error when the queue's server does not do that
   */
  async prove(): Promise<void> {
    this.queue ??= this.open();
    await this.queue.add('probe', {}, { jobId: this.jobId, priority: JOB_PRIORITY['apply-rules'] });
    await this.queue.remove(this.jobId);
  }

  private open(): Queue {
    const queue = new Queue('probe', {
      connection: this.connection,
      streams: { events: { maxLen: 10 } },
    });
    // the connection is shared: its owner gets the error
    queue.on('error', () => undefined);
    return queue;
  }
}
