import {
  assertSchemaCompatibility,
  PostgresConnection,
  PostgresQueueBackend,
  type BackendFactory,
  type PostgresConnectionOptions,
} from 'bullmq';

/**
 * BullMQ's own connection remembers for ever that its first look at the queue's tables failed: made while the database
 * is away, every later call fails at once, and a worker asks again without a pause until nothing else runs. This one
 * looks again.
 */
class LookingAgain extends PostgresConnection {
  private looked: Promise<void> | null = null;

  override waitUntilReady(): Promise<void> {
    this.looked ??= this.look().catch((error: unknown) => {
      this.looked = null;
      throw error;
    });
    return this.looked;
  }

  private async look(): Promise<void> {
    const client = await this.pool.connect();
    try {
      await assertSchemaCompatibility(client, this.schema);
    } finally {
      client.release();
    }
  }
}

/** Builds the PostgreSQL side of every queue and worker. */
export const postgresQueue: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (
  name,
  options,
) => new PostgresQueueBackend(new LookingAgain(options.connection), name, options);
