import { runMigrations, setDefaultBackendFactory, type ConnectionOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { Client, Pool } from 'pg';
import { postgresQueue } from './postgres-queue';

export interface QueueSettings {
  /** the queue is in this Redis; null: in PostgreSQL */
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
}

/** What every queue and worker of this process shares. */
export interface QueueConnection {
  readonly options: ConnectionOptions;
  /** @throws Error when the queue's server does not answer, or takes nothing in */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const ANSWER_TIMEOUT_MS = 2000;

/** @param onError told of a lost connection; the connection comes back by itself */
export function connectQueue(settings: QueueSettings, onError: (error: Error) => void): QueueConnection {
  return settings.redisUrl === null
    ? overPostgres(settings.databaseUrl, onError)
    : overRedis(settings.redisUrl, onError);
}

function overPostgres(connectionString: string, onError: (error: Error) => void): QueueConnection {
  setDefaultBackendFactory(postgresQueue);
  const pool = new Pool({
    connectionString,
    max: 12,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    application_name: 'drawbridge-queue',
    options: '-c search_path=bullmq',
  });
  // Every queue and worker listens for the shared pool's errors.
  pool.setMaxListeners(100);
  pool.on('error', onError);
  // one that dies in somebody's hands, between two statements, would end the process: the next statement tells of it
  pool.on('connect', (client) => client.on('error', () => undefined));
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
      // one that is full answers a PING and takes no job
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
