import type { QueueConnection } from '#jobs';

/** Whether the queue answers. */
export abstract class QueueProbe {
  /** @throws Error when it does not */
  abstract ping(): Promise<void>;
}

export class QueueConnectionProbe extends QueueProbe {
  constructor(private readonly connection: QueueConnection) {
    super();
  }

  override ping(): Promise<void> {
    return this.connection.ping();
  }
}
