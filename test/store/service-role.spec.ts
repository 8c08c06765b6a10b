import { Client } from 'pg';
import { Database, LedgerPartitions } from '#entities';
import { AuditChainStore } from '#tenant-store';
import { month, monthPartition } from '../builders/audit/audit-months';
import { cloneDatabase, type ClonedDatabase } from '../harness/database/database';

const DENIED = '42501';
const APPEND_ONLY = ['audit_records', 'audit_seals', 'rule_events'];

describe('The role that API and workers connect with', () => {
  let clone: ClonedDatabase;
  let owner: Client;
  let service: Client;

  beforeAll(async () => {
    clone = await cloneDatabase();
    owner = new Client({ connectionString: clone.url });
    service = new Client({ connectionString: clone.serviceUrl });
    await Promise.all([owner.connect(), service.connect()]);
  });
  afterAll(async () => {
    await Promise.all([owner.end(), service.end()]);
    await clone.drop();
  });

  const expectDenied = async (statement: string): Promise<void> => {
    const outcome = await service.query(statement).then(
      () => 'it was allowed',
      (error: { code?: string }) => error.code,
    );
    expect([statement, outcome]).toEqual([statement, DENIED]);
  };

  const tablesOf = async (condition: string): Promise<string[]> => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname IN ('public', 'bullmq') AND c.relkind IN ('r', 'p') AND ${condition}`,
    );
    return rows.map(({ name }) => name);
  };

  it.each(APPEND_ONLY)('cannot change, delete or truncate rows of %s', async (table) => {
    await expectDenied(`UPDATE ${table} SET ${table === 'audit_seals' ? `hash = ''` : `resource_id = NULL`}`);
    await expectDenied(`DELETE FROM ${table}`);
    await expectDenied(`TRUNCATE ${table}`);
    await expectDenied(`MERGE INTO ${table} t USING (VALUES (1)) v ON true WHEN MATCHED THEN DELETE`);
    await expectDenied(`DO $$ BEGIN LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE; END $$`);
  });

  it.each(APPEND_ONLY)('cannot switch off or drop the triggers of %s', async (table) => {
    const { rows } = await owner.query<{ name: string }>(
      'SELECT tgname AS name FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal',
      [table],
    );
    expect(rows.length).toBeGreaterThan(0);
    await expectDenied(`ALTER TABLE ${table} DISABLE TRIGGER ALL`);
    for (const { name } of rows) {
      await expectDenied(`ALTER TABLE ${table} DISABLE TRIGGER ${name}`);
      await expectDenied(`DROP TRIGGER ${name} ON ${table}`);
      await expectDenied(
        `CREATE TRIGGER mine BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
      );
    }
    await expectDenied('SET session_replication_role = replica');
  });

  it.each(['rule_events', 'audit_records'])(
    'cannot read or change a partition of %s by itself',
    async (table) => {
      const partitions = await tablesOf(
        `c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = '${table}'::regclass)`,
      );
      expect(partitions.length).toBeGreaterThan(2);
      for (const partition of partitions) {
        await expectDenied(`SELECT FROM ${partition}`);
        await expectDenied(`DELETE FROM ${partition}`);
        await expectDenied(`INSERT INTO ${partition} SELECT * FROM ${table}`);
        await expectDenied(`DROP TABLE ${partition}`);
        await expectDenied(`ALTER TABLE ${table} DETACH PARTITION ${partition}`);
      }
    },
  );

  it.each(['audit_records', 'rule_events'])(
    'can create the coming months of %s, and no others',
    async (table) => {
      const { rows } = await service.query<{ isNew: boolean }>(
        `SELECT create_${table}_partition((date_trunc('month', now() AT TIME ZONE 'UTC') + interval '6 months')::date) AS "isNew"`,
      );
      expect(rows).toEqual([{ isNew: true }]);
      for (const other of ['2020-01-01', '2900-01-01', '2026-01-02'])
        await expect(service.query(`SELECT create_${table}_partition($1)`, [other])).rejects.toThrow(
          'no month to come',
        );
    },
  );

  it('cannot drop, alter or truncate any table', async () => {
    for (const table of await tablesOf('true')) {
      await expectDenied(`DROP TABLE ${table}`);
      await expectDenied(`ALTER TABLE ${table} ADD COLUMN mine text`);
      await expectDenied(`ALTER TABLE ${table} OWNER TO CURRENT_USER`);
      await expectDenied(`ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`);
      await expectDenied(`TRUNCATE ${table} CASCADE`);
    }
  });

  it.each(['refuse_change', 'refuse_seal_deletion'])('cannot replace the function %s', async (name) => {
    await expectDenied(`DROP FUNCTION ${name} CASCADE`);
    await expectDenied(
      `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
    );
    await expectDenied(`ALTER FUNCTION ${name}() RENAME TO mine`);
  });

  it.each([
    'CREATE TABLE mine (id int)',
    `CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
    'CREATE SCHEMA mine',
    'CREATE ROLE mine',
    'SET ROLE postgres',
    'ALTER ROLE CURRENT_USER BYPASSRLS',
    'ALTER SYSTEM SET log_statement = none',
    // what migrations ran, and how long the ledger is kept
    'DELETE FROM migrations',
    'UPDATE retention_floor SET months = 1',
    'INSERT INTO retention_floor VALUES ($$x$$, 1)',
    // that records were exported
    `INSERT INTO audit_exports (organization_id, first_position, last_position, hash_before, hash, month)
     VALUES (gen_random_uuid(), 1, 2, '', '', '')`,
    'SELECT create_default_audit_records()',
    'SELECT create_default_rule_events()',
  ])('may not %s', (statement) => expectDenied(statement));

  it('cannot grant itself what it may not do', async () => {
    // PostgreSQL only warns when nothing was granted
    await service.query('GRANT UPDATE ON audit_records TO PUBLIC').catch(() => undefined);
    await expectDenied('UPDATE audit_records SET resource_id = NULL');
  });

  it('cannot drop a month of the ledger that is younger than the owner keeps it', async () => {
    await owner.query(`UPDATE retention_floor SET months = 24`);
    await monthPartition(owner, 'rule_events', "timestamp '2021-03-01'");
    await monthPartition(owner, 'rule_events', month(-20));
    const { rows } = await service.query<{ name: string }>('SELECT name FROM expired_rule_events(1) AS name');
    expect(rows).toEqual([{ name: 'rule_events_2021_03' }]);
    const { rows: before } = await owner.query<{ name: string }>(
      `SELECT to_char(date_trunc('month', now()) - interval '20 months', '"rule_events_"YYYY_MM') AS name`,
    );
    for (const name of [
      before[0]!.name,
      'rule_events_default',
      'audit_records',
      'x"; DROP TABLE users; --',
    ]) {
      await service.query('SELECT drop_expired_rule_events($1, 1)', [name]);
    }
    expect(
      await tablesOf(`c.relname IN ('${before[0]!.name}', 'rule_events_default', 'audit_records')`),
    ).toHaveLength(3);
  });

  it('can keep the ledger’s months, and drop those that are over', async () => {
    const database = await new Database({
      url: clone.serviceUrl!,
      applicationName: 'service-role-test',
      poolSize: 2,
    }).connectMigrated();
    const ledger = new LedgerPartitions(database);
    await monthPartition(owner, 'rule_events', "timestamp '2020-01-01'");
    await database.autocommit.query(
      `INSERT INTO rule_events (at, kind, target_id, provider, target, address, protocol, ports, holder_kind)
       VALUES ('2022-05-05', 'OPENED', gen_random_uuid(), 'AWS', 'sg-1', '203.0.113.7/32', 'tcp', '22', 'SESSION')`,
    );
    expect(await ledger.createMissing(4)).toBe('done');
    expect(await tablesOf(`c.relispartition AND c.relname = 'rule_events_2022_05'`)).toHaveLength(1);
    const { dropped, outcome } = await ledger.dropExpired(24);
    expect([dropped, outcome]).toEqual([
      expect.arrayContaining(['rule_events_2020_01', 'rule_events_2022_05']),
      'done',
    ]);
    expect(await new AuditChainStore().isBehind(database.autocommit)).toBe(true);
    await database.close();
  });

  it('is refused where it would own the tables', async () => {
    const database = await new Database({
      url: clone.url,
      applicationName: 'role-test',
      poolSize: 1,
    }).connect();
    const { username } = new URL(clone.url);
    await expect(database.grantService({ name: username, password: 'x' }, 24)).rejects.toThrow(
      'DATABASE_SERVICE_URL owns tables',
    );
    await database.close();
  });
});
