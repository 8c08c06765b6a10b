import { MonthlyPartitions } from '#entities';
import { AuditChainBench } from '../builders/audit/audit-chain';
import { month } from '../builders/audit/audit-months';

describe('The partitions of the audit records', () => {
  const log = new AuditChainBench();

  const upkeep = (): MonthlyPartitions => new MonthlyPartitions(log.database, 'audit_records');

  /** The months relative to this one that partitions are named after. */
  const months = async (): Promise<number[]> => {
    const rows = await log.sql<{ ahead: number }>(
      `SELECT (extract(year FROM m) * 12 + extract(month FROM m) - extract(year FROM n) * 12 - extract(month FROM n))::int AS ahead
       FROM (SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS m, now() AT TIME ZONE 'UTC' AS n
         FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'audit_records'::regclass AND c.relname <> 'audit_records_default') known ORDER BY 1`,
    );
    return rows.map(({ ahead }) => ahead);
  };
  const written = (at: string): Promise<unknown> =>
    log.sql(
      `INSERT INTO audit_records (organization_id, event_type, actor_type, timestamp)
       VALUES (gen_random_uuid(), 'ROLE_DELETED', 'SYSTEM', ${at} AT TIME ZONE 'UTC')`,
    );
  const count = async (table: string): Promise<number> =>
    (await log.sql<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`))[0]!.count;

  it('cover this month and the next three after the migration', async () => {
    expect(await months()).toEqual([0, 1, 2, 3]);
    for (const at of [month(0), month(1), month(3)]) await written(at);
    expect(await count('audit_records_default')).toBe(0);
  });

  it('are created by one of several workers', async () => {
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => upkeep().createMissing(5)));
    expect(outcomes).toContain('done');
    expect(await months()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await upkeep().createMissing(5)).toBe('done');
    expect(await months()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('take over what no partition was made for, without copying it', async () => {
    await written(month(5));
    await written(month(6));
    const before = await log.sql('SELECT relfilenode FROM pg_class WHERE relname = $1', [
      'audit_records_default',
    ]);
    expect(await upkeep().createMissing(3)).toBe('done');
    expect(await months()).toEqual([0, 1, 2, 3, 6]);
    const [after] = await log.sql<object>(
      `SELECT relfilenode FROM pg_class WHERE relname = 'audit_records_' || to_char(${month(6)}, 'YYYY_MM')`,
    );
    expect([after]).toEqual(before);
    expect(await count('audit_records_default')).toBe(0);
    expect(await upkeep().createMissing(8)).toBe('done');
    expect(await months()).toEqual([0, 1, 2, 3, 6, 7, 8]);
    await written(month(5));
    expect(await count('audit_records_default')).toBe(0);
  });

  it('leave records in the default partition that lie on both sides of a month', async () => {
    await log.sql(`ALTER TABLE audit_records DETACH PARTITION audit_records_default`);
    await log.sql(`DROP TABLE audit_records_default`);
    const [{ name }] = (await log.sql(
      `SELECT 'audit_records_' || to_char(${month(2)}, 'YYYY_MM') AS name`,
    )) as [{ name: string }];
    await log.sql(`ALTER TABLE audit_records DETACH PARTITION ${name}`);
    await log.sql(`ALTER TABLE ${name} RENAME TO elsewhere`);
    await log.sql('SELECT create_default_audit_records()');
    await written(month(2));
    await written(month(5));
    expect(await upkeep().createMissing(5)).toBe('done');
    expect(await months()).toEqual([0, 1, 3, 4]);
    expect(await count('audit_records_default')).toBe(2);
    expect(await count('audit_records')).toBe(2);
  });

  it('are append-only, each by itself too', async () => {
    await written(month(0));
    await written(month(2));
    await written(month(9));
    const tables = await log.sql<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit_records'::regclass
       UNION ALL SELECT 'audit_records'`,
    );
    for (const { name } of tables) {
      await expect(log.sql(`TRUNCATE ${name}`)).rejects.toThrow('append-only');
      if ((await count(name)) === 0) continue;
      await expect(log.sql(`DELETE FROM ${name}`)).rejects.toThrow('append-only');
      await expect(log.sql(`UPDATE ${name} SET actor_email = 'eve@example.com'`)).rejects.toThrow(
        'append-only',
      );
    }
  });
});
