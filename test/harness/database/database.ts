import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { serviceUrlOf, TEMPLATE } from './template';

/** An arbitrary number: only cloning takes this lock. */
const CLONING = 466_001;

export interface ClonedDatabase {
  /** of the tables' owner */
  readonly url: string;
  /** of the role that API and workers connect with; the owner's where that role does not exist */
  readonly serviceUrl?: string;
  /** Disconnects all clients, and drops it. */
  readonly drop: () => Promise<void>;
}

/**
 * A new database with the whole schema and no rows.
 * @throws Error outside of a run that has the harness's global setup
 */
export async function cloneDatabase(): Promise<ClonedDatabase> {
  const database = await createDatabase(TEMPLATE);
  return { ...database, serviceUrl: serviceUrlOf(database.url) };
}

/** A new database without tables. */
export function emptyDatabase(): Promise<ClonedDatabase> {
  return createDatabase('template0');
}

async function createDatabase(template: string): Promise<ClonedDatabase> {
  const server = process.env['TEST_POSTGRES_URL'];
  if (!server) throw new Error('TEST_POSTGRES_URL is not set: run suites with test/vitest.config.mts.');
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await asSuperuser(server, async (client) => {
    // A template is copied for one client at a time; the lock goes with the connection.
    await client.query('SELECT pg_advisory_lock($1)', [CLONING]);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  });
  return {
    url: Object.assign(new URL(server), { pathname: `/${name}` }).href,
    drop: () =>
      asSuperuser(server, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
}

async function asSuperuser(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
