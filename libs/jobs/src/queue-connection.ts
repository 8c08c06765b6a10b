import { runMigrations, setDefaultBackendFactory, type ConnectionOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { Client, type Pool, type PoolConfig } from 'pg';
import { postgresQueue } from './postgres-queue';

export interface QueueSettings {
  /** the queue is in this Redis; null: in PostgreSQL */
  readonly redisUrl: string | null;
  /** a pool of connections to the product's database */
  readonly openPool: (config: PoolConfig & { readonly session: Readonly<Record<string, string>> }) => Pool;
}

/** Shared by every queue and worker of this process. */
export abstract class QueueConnection {
  abstract readonly options: ConnectionOptions;
  /** @throws Error when the queue's server does not answer or does not accept writes */
  abstract ping(): Promise<void>;
  abstract close(): Promise<void>;
}

const ANSWER_TIMEOUT_MS = 2000;

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
  });
  // every queue and worker adds a listener for the shared pool's errors
  pool.setMaxListeners(100);
  pool.on('error', onError);
  return {
    options: pool,
    ping: async () => void (await pool.query('SELECT 1')),
    close: () => pool.end(),
  };
}

function overRedis(url: string, onError: (error: Error) => void): QueueConnection {
  setDefaultBackendFactory();
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: ANSWER_TIMEOUT_MS,
  });
  client.on('error', onError);
  const { hostname: host, port, username, password, protocol, pathname } = new URL(url);
  return {
    options: {
      host,
      port: Number(port || 6379),
      ...(username ? { username } : {}),
      ...(password ? { password: decodeURIComponent(password) } : {}),
      ...(pathname.length > 1 ? { db: Number(pathname.slice(1)) } : {}),
      ...(protocol === 'rediss:' ? { tls: {} } : {}),
    },
    ping: async () => {
      if (client.status === 'wait' || client.status === 'end') await client.connect();
      // a full Redis answers a PING but rejects jobs
      await client.set('drawbridge:probe', '1', 'PX', ANSWER_TIMEOUT_MS);
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
