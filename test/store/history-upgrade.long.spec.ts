import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { group, organization, type Organization } from '../builders/organization';
import { auditPage } from '../builders/audit-trail';
import { machineSlowness } from '../chaos/oracles/bounds';
import { emptyDatabase, type ClonedDatabase } from '../harness/database';
import { Drawbridge } from '../harness/drawbridge';
import { migrateToThisRelease, PreviousRelease, whyNotInHistory } from '../harness/previous-release';
import { until } from '../harness/until';

/** The last commit whose newest migration is PromptWrites1790600900000. */
const PREVIOUS = '2dba543';
const RECORDS = 100_000;
/** generous, as both releases share two cores; a table that is read as a whole under its lock takes longer */
const MAX_WAIT_MS = 1500;

const missing = whyNotInHistory(PREVIOUS);
const describeUpgrade = missing === null ? describe : describe.skip;

it('the release before can be built wherever continuous integration has the whole history', () => {
  expect(process.env['CI'] === 'true' ? missing : null).not.toBe('missing');
});

describeUpgrade('The partitioning of a filled audit trail while the release before is running', () => {
  let previous: PreviousRelease;
  let database: ClonedDatabase;
  let drawbridge: Drawbridge;
  let org: Organization;
  const waits: number[] = [];
  let written = 0;

  /** Actions and lists of the release before, one after another. */
  async function load(isOver: () => boolean): Promise<void> {
    for (let index = 0; !isOver(); index += 1) {
      const began = performance.now();
      await org.admin.expect(201, org.admin.post('/roles', { name: `role ${index}` }));
      await auditPage(org.admin, '?size=5');
      waits.push(performance.now() - began);
      written += 1;
    }
  }

  beforeAll(async () => {
    previous = await PreviousRelease.build(PREVIOUS);
    database = await emptyDatabase();
    await previous.migrate(database.url);
    drawbridge = await Drawbridge.start({ database, worker: false, apiRelease: previous.root });
    const worker = await drawbridge.startWorker({}, 'test', previous.root);
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    await drawbridge.query(
      `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_name, timestamp)
       SELECT $1, 'ROLE_UPDATED', 'SYSTEM', 'seeded', now() - n * interval '2 minutes' FROM generate_series(1, $2::int) n`,
      [org.organizationId, RECORDS],
    );
    let isMigrated = false;
    const running = load(() => isMigrated && written > 20);
    await until('the load runs', () => Promise.resolve(written > 5));
    waits.length = 0;
    await migrateToThisRelease(database.url);
    isMigrated = true;
    await running;
    // the release before seals on: it does not know where its records are
    const sealed = async (): Promise<number> =>
      (
        await drawbridge.query<{ n: number }>(
          'SELECT count(*)::int AS n FROM audit_seals WHERE recorded_at IS NULL',
        )
      )[0]!.n;
    const before = await sealed();
    await org.admin.expect(201, org.admin.post('/roles', { name: 'after the migration' }));
    await until('the worker before seals', async () => (await sealed()) > before, 60_000);
    await worker.stop();
  }, 240_000);

  afterAll(async () => {
    await drawbridge?.stop();
    previous?.remove();
  });

  it('keeps no request waiting for long, and fails none', () => {
    expect(waits.length).toBeGreaterThan(3);
    process.stderr.write(
      `longest request while the trail was partitioned: ${Math.max(...waits).toFixed(0)} ms of ${waits.length}\n`,
    );
    expect(Math.max(...waits)).toBeLessThan(MAX_WAIT_MS * machineSlowness());
  });

  it('leaves every record where it is, in the first partition', async () => {
    const partitions = await drawbridge.query<{ n: number; bounds: string }>(
      `SELECT c.reltuples::int AS n, pg_get_expr(c.relpartbound, c.oid) AS bounds
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'audit_records'::regclass ORDER BY c.relname`,
    );
    expect(partitions).toHaveLength(4);
    expect(partitions[0]!.bounds).toContain('MINVALUE');
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await expect(client.query('DELETE FROM audit_records')).rejects.toThrow('append-only');
    await client.end();
    expect((await auditPage(org.admin)).totalElements).toBeGreaterThan(RECORDS);
  });

  it('leaves one chain, which this release continues and verifies', async () => {
    const worker = await drawbridge.startWorker();
    await org.admin.expect(201, org.admin.post('/roles', { name: 'sealed by this release' }));
    await until(
      'every record is sealed',
      async () =>
        (
          await drawbridge.query(
            `SELECT 1 FROM audit_seals s JOIN audit_records r ON r.id = s.record_id
             WHERE r.event_type = 'ROLE_CREATED' AND r.resource_name = 'sealed by this release'`,
          )
        ).length > 0,
      120_000,
    );
    const { PATH } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, ['dist/apps/worker/src/verify-audit.js'], {
      env: { PATH, DATABASE_URL: database.url },
    });
    expect(stdout).toMatch(/: holds, \d{6} records sealed, 0 not sealed yet/);
    await worker.stop();
  }, 150_000);
});
