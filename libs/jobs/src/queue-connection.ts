import { once } from 'node:events';
import { runMigrations, setDefaultBackendFactory, type ConnectionOptions } from 'bullmq';
import { Client, type Pool, type PoolConfig } from 'pg';
import type { BackoffPolicy } from '#rules';
import { openRedis } from './open-redis';
import { postgresQueue } from './postgres-queue';
import { QueueProbe } from './queue-probe';

export interface QueueSettings {
  /** the queue is in this Redis; null: in PostgreSQL */
  readonly redisUrl: string | null;
  /** a pool of connections to the product's database */
  readonly openPool: (
    config: PoolConfig & {
      readonly session: Readonly<Record<string, string>>;
      readonly connectBackoff: BackoffPolicy;
    },
  ) => Pool;
}

/** Shared by every queue and worker of this process. */
export abstract class QueueConnection {
  abstract readonly options: ConnectionOptions;
  /** for how long a worker waits for a job before it looks again, in case its announcement was lost */
  abstract readonly idlePollSeconds: number;
  /** @throws Error when the queue's server does not answer or does not accept jobs */
  abstract ping(): Promise<void>;
  abstract close(): Promise<void>;
}

const ANSWER_TIMEOUT_MS = 2000;
/** The sweep does the work meanwhile. */
const CONNECT_BACKOFF: BackoffPolicy = { baseMs: 500, capMs: 10_000 };
/** Longer than a BullMQ worker waits for a job on Redis. */
const SOCKET_TIMEOUT_MS = 10_000;

/** @param onError called when the connection is lost; it reconnects automatically */
export function connectQueue(settings: QueueSettings, onError: (error: Error) => void): QueueConnection {
  return settings.redisUrl === null
    ? overPostgres(settings.openPool, onError)
    : overRedis(settings.redisUrl, onError);
}

function overPostgres(openPool: QueueSettings['openPool'], onError: (error: Error) => void): QueueConnection {
  setDefaultBackendFactory(postgresQueue);
  const pool = openPool({
    max: 12,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    application_name: 'drawbridge-queue',
    session: { search_path: 'bullmq' },
    connectBackoff: CONNECT_BACKOFF,
  });
  // every queue and worker adds a listener for the shared pool's errors
  pool.setMaxListeners(100);
  pool.on('error', onError);
  const probe = new QueueProbe(pool);
  return {
    options: pool,
    idlePollSeconds: 300,
    ping: () => probe.prove(),
    close: () => pool.end(),
  };
}

/**
 * One connection carries every job of the process, except that each BullMQ worker waits on a copy of it. The probe uses the
 * same one: a connection of its own can work while those of the jobs are half-open.
 */
function overRedis(url: string, onError: (error: Error) => void): QueueConnection {
  setDefaultBackendFactory();
  const client = openRedis(url, {
    // as BullMQ demands: a command waits for the connection to come back
    maxRetriesPerRequest: null,
    connectTimeout: ANSWER_TIMEOUT_MS,
    // a connection on which nothing answers any more, as behind a proxy that has forgotten it, is replaced
    socketTimeout: SOCKET_TIMEOUT_MS,
    // as is one to a server that was demoted; the command is sent again
    reconnectOnError: ({ message }) => (message.startsWith('READONLY') ? 2 : false),
  });
  client.on('error', onError);
  const probe = new QueueProbe(client);
  return {
    options: client,
    idlePollSeconds: SOCKET_TIMEOUT_MS / 2000,
    ping: async () => {
      if (client.status !== 'ready')
        await once(client, 'ready', { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
      // a full Redis answers a PING but rejects jobs, and one in cluster mode takes single keys but no script of the queue
      await probe.prove();
    },
    close: async () => client.disconnect(),
  };
}

/** Creates or updates the queue's own tables, beside the product's. */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await runMigrations(client);
  } finally {
    await client.end();
  }
}
