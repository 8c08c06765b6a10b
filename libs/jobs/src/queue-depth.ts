import { Queue } from 'bullmq';
import type { Provider } from '#rules';
import { queueName } from './job-types';
import type { QueueConnection } from './queue-connection';

/** The number of waiting wake-ups per provider. */
export class QueueDepth {
  private readonly queues: readonly { provider: Provider; queue: Queue }[];

  constructor(providers: readonly Provider[], connection: QueueConnection, onError: (error: Error) => void) {
    this.queues = providers.map((provider) => {
      const queue = new Queue(queueName(provider), { connection: connection.options });
      queue.on('error', onError);
      return { provider, queue };
    });
  }

  /** @throws Error when the queue is unreachable */
  read(): Promise<{ provider: Provider; waiting: number }[]> {
    return Promise.all(
      this.queues.map(async ({ provider, queue }) => ({ provider, waiting: await queue.getWaitingCount() })),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.queues.map(({ queue }) => queue.close()));
  }
}
