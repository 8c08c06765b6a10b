import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

/** Holds the migrated schema; nobody may be connected to it while it is cloned. */
export const TEMPLATE_DATABASE = 'template_drawbridge';

/** Any number that nothing else locks: clones wait for each other on it. */
const CLONE_LOCK = 4_120_317;

export interface ClonedDatabase {
  readonly url: string;
  /** Deletes it, whoever is still connected. */
  drop(): Promise<void>;
}

/**
 * Makes a database of its own with the schema migrated and no rows in it.
 * @throws Error when the run's PostgreSQL was not started by the global setup
 */
export async function cloneDatabase(): Promise<ClonedDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withSuperuser(async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [CLONE_LOCK]);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE} STRATEGY FILE_COPY`);
  });
  return {
    url: Object.assign(superuserUrl(), { pathname: `/${name}` }).href,
    drop: () =>
      withSuperuser(async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
}

/** On a connection of its own, whose end also gives back an advisory lock. */
async function withSuperuser(work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: superuserUrl().href, connectionTimeoutMillis: 20_000 });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function superuserUrl(): URL {
  const url = process.env['TEST_POSTGRES_URL'];
  if (!url) throw new Error('TEST_POSTGRES_URL is not set: the global setup of jest starts PostgreSQL.');
  return new URL(url);
}
