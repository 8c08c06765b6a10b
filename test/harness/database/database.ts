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
  if (process.env['TEST_TEMPLATE_MONTH'] !== currentMonth())
    await asSuperuser(database.url, movePartitionsToThisMonth);
  return { ...database, serviceUrl: serviceUrlOf(database.url) };
}

/** In UTC, `YYYY-MM`: the first one that a database has partitions for which is migrated now. */
export const currentMonth = (): string => new Date().toISOString().slice(0, 7);

/** A run may cross the end of a month: then a clone has the partitions of the month before. */
async function movePartitionsToThisMonth(client: Client): Promise<void> {
  const months = `date_trunc('month', now() AT TIME ZONE 'UTC')`;
  for (const table of ['audit_records', 'rule_events']) {
    const { rows } = await client.query<{ name: string; isPast: boolean }>(
      `SELECT name, month < ${months} AS "isPast" FROM monthly_partitions($1)`,
      [table],
    );
    await client.query(
      `SELECT create_${table}_partition((${months} + make_interval(months => m))::date) FROM generate_series(0, $1::int) m`,
      [rows.length - 1],
    );
    for (const { name } of rows.filter(({ isPast }) => isPast)) await client.query(`DROP TABLE ${name}`);
  }
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
