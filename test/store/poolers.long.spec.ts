import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Database, NotificationFeed } from '#entities';
import { cloneDatabase, emptyDatabase, type ClonedDatabase } from '../harness/database/database';
import { hasPgBouncer, PgBouncer, sayNoPgBouncer, type PoolMode } from '../harness/database/pgbouncer';
import { postgresQueue } from '../harness/database/postgres-queue';
import { serviceUrlOf } from '../harness/database/template';
import { until } from '../harness/until';

const describePoolers = hasPgBouncer ? describe : describe.skip;
if (!hasPgBouncer) sayNoPgBouncer();

describePoolers('A database behind PgBouncer', () => {
  let clone: ClonedDatabase;
  let bouncer: PgBouncer;
  let database: Database;

  beforeAll(async () => {
    clone = await cloneDatabase();
  });
  afterAll(() => clone.drop());
  afterEach(async () => {
    await database.close();
    await bouncer.stop();
  });

  async function before(mode: PoolMode): Promise<Database> {
    bouncer = await PgBouncer.before(clone.serviceUrl!, mode);
    database = new Database({ url: bouncer.url, applicationName: 'poolers', poolSize: 4 });
    return database;
  }

  it.each(['transaction', 'statement'] as const)('that shares sessions is refused (%s)', async (mode) => {
    await expect((await before(mode)).connectMigrated()).rejects.toThrow('use session pooling');
  });

  it('is migrated through one that keeps sessions', async () => {
    const empty = await emptyDatabase();
    bouncer = await PgBouncer.before(empty.url, 'session');
    const { PATH, HOME } = process.env;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['dist/apps/worker/src/admin/main.js', 'migrate'],
      {
        env: { PATH, HOME, DATABASE_URL: bouncer.url, DATABASE_SERVICE_URL: serviceUrlOf(empty.url) },
      },
    );
    expect(stdout).toContain('Migrated');
    database = new Database({ url: serviceUrlOf(empty.url), applicationName: 'poolers', poolSize: 2 });
    await database.connectMigrated();
    await database.close();
    await empty.drop();
  });

  it('that keeps sessions has the settings, the queue and the notifications', async () => {
    await (await before('session')).connectMigrated();
    expect(
      await database.autocommit.query(
        `SELECT current_setting('statement_timeout') AS timeout, current_setting('plan_cache_mode') AS plans`,
      ),
    ).toEqual([{ timeout: '15s', plans: 'force_generic_plan' }]);
    const queue = postgresQueue(bouncer.url);
    await queue.ping();
    await queue.close();
    const heard: string[] = [];
    const listener = { notified: (payload: string) => void heard.push(payload), gap: () => undefined };
    const feed = new NotificationFeed(bouncer.url, 'agent_states', listener, () => undefined);
    feed.start();
    await until('it listens', () => Promise.resolve(feed.isListening));
    await database.autocommit.query(`SELECT pg_notify('agent_states', 'host')`);
    await until('it is notified', () => Promise.resolve(heard.includes('host')));
    await feed.close();
  });
});
