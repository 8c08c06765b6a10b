import {
  assertSchemaCompatibility,
  PostgresConnection,
  PostgresQueueBackend,
  type BackendFactory,
  type PostgresConnectionOptions,
} from 'bullmq';

/**
 * Retries a failed schema check. BullMQ's own connection caches the failure: created while the database is unavailable,
 * every later call fails immediately, and a worker retries without a delay and starves everything else.
 */
class RetryingPostgresConnection extends PostgresConnection {
  private checked: Promise<void> | null = null;

  override waitUntilReady(): Promise<void> {
    this.checked ??= this.checkSchema().catch((error: unknown) => {
      this.checked = null;
      throw error;
    });
    return this.checked;
  }

  private async checkSchema(): Promise<void> {
    const client = await this.pool.connect();
    try {
      await assertSchemaCompatibility(client, this.schema);
    } finally {
      client.release();
    }
  }
}

/** Creates the PostgreSQL backend of every queue and worker. */
export const postgresQueue: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (
  name,
  options,
) => new PostgresQueueBackend(new RetryingPostgresConnection(options.connection), name, options);
