import { randomUUID } from 'node:crypto';
import { LedgerPartitions, MonthlyPartitions } from '#entities';
import { month, monthPartition } from '../builders/audit/audit-months';
import { ownDatabase, type OwnDatabase } from '../harness/database/own-database';

/** The values of a row besides its time. */
const ROWS = {
  rule_events: `at, kind, target_id, provider, target, address, protocol, ports, holder_kind)
    SELECT at, 'OPENED', gen_random_uuid(), 'AWS', 'sg-1', '203.0.113.7/32', 'tcp', '22', 'SESSION'`,
  audit_records: `timestamp, organization_id, event_type, actor_type)
    SELECT at, gen_random_uuid(), 'ROLE_DELETED', 'SYSTEM'`,
} as const;

class Partitions {
  constructor(
    private readonly database: OwnDatabase,
    private readonly table: keyof typeof ROWS,
  ) {}

  sql<Row>(statement: string, given: unknown[] = []): Promise<Row[]> {
    return this.database.autocommit.query(statement, given);
  }

  createMissing(ahead: number): Promise<string> {
    return new MonthlyPartitions(this.database, this.table).createMissing(ahead);
  }

  /** The months relative to this one that have a partition. */
  async months(): Promise<number[]> {
    const rows = await this.sql<{ ahead: number }>(
      `SELECT (extract(year FROM m) * 12 + extract(month FROM m) - extract(year FROM n) * 12 - extract(month FROM n))::int AS ahead
       FROM (SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS m, now() AT TIME ZONE 'UTC' AS n
         FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = $1::regclass AND c.relname <> $1 || '_default') known ORDER BY 1`,
      [this.table],
    );
    return rows.map(({ ahead }) => ahead);
  }

  async dropMonths(): Promise<void> {
    const names = await this.sql<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits
       WHERE inhparent = $1::regclass AND inhrelid <> ($1 || '_default')::regclass`,
      [this.table],
    );
    for (const { name } of names) await this.sql(`DROP TABLE ${name}`);
  }

  /** @param at SQL: the beginning of a month */
  write(at: string, count = 1): Promise<unknown> {
    return this.sql(
      `INSERT INTO ${this.table} (${ROWS[this.table]}
       FROM (SELECT (${at} + n * interval '1 second') AT TIME ZONE 'UTC' AS at FROM generate_series(1, $1::int) n) times`,
      [count],
    );
  }

  async count(table: string): Promise<number> {
    return (await this.sql<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`))[0]!.count;
  }

  countDefault(): Promise<number> {
    return this.count(`${this.table}_default`);
  }
}

describe.each([
  ['rule_events', [0, 1, 2]],
  ['audit_records', [0, 1, 2, 3]],
] as const)('The partitions of %s', (table, first) => {
  const database = ownDatabase(8, { forEachTest: true });
  const partitions = new Partitions(database, table);

  it('exist for this month and the next ones after the migration', async () => {
    expect(await partitions.months()).toEqual(first);
    for (const ahead of first) await partitions.write(month(ahead));
    expect(await partitions.countDefault()).toBe(0);
  });

  it('are created by one of several workers', async () => {
    await partitions.dropMonths();
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => partitions.createMissing(2)));
    expect(outcomes).toContain('done');
    expect(await partitions.months()).toEqual([0, 1, 2]);
    for (let again = 0; again < 2; again += 1) expect(await partitions.createMissing(3)).toBe('done');
    expect(await partitions.months()).toEqual([0, 1, 2, 3]);
  });

  it('take over what no partition was made for, of past months too, without copying it', async () => {
    await partitions.dropMonths();
    await partitions.write(month(0), 6000);
    await partitions.write(month(-3), 20);
    expect(await partitions.countDefault()).toBe(6020);
    const file = (name: string): Promise<unknown[]> =>
      partitions.sql(`SELECT relfilenode FROM pg_class WHERE relname = ${name}`);
    const before = await file(`'${table}_default'`);
    expect(await partitions.createMissing(2)).toBe('done');
    expect(await partitions.months()).toEqual([0, 1, 2]);
    expect(await file(`to_char(${month(0)}, '"${table}_"YYYY_MM')`)).toEqual(before);
    expect([await partitions.countDefault(), await partitions.count(table)]).toEqual([0, 6020]);
    await partitions.write(month(1));
    expect(await partitions.countDefault()).toBe(0);
    await partitions.write(month(7));
    expect(await partitions.countDefault()).toBe(1);
  });

  it('leave rows in the default partition that lie on both sides of a month', async () => {
    await partitions.dropMonths();
    await partitions.createMissing(0);
    await partitions.write(month(1));
    await monthPartition({ query: partitions.sql.bind(partitions) } as never, table, month(2));
    await partitions.write(month(3));
    expect(await partitions.createMissing(3)).toBe('done');
    expect(await partitions.months()).toEqual([0, 2]);
    expect([await partitions.countDefault(), await partitions.count(table)]).toEqual([2, 2]);
  });

  it('are append-only, each by itself too', async () => {
    await partitions.write(month(0));
    await partitions.write(month(9));
    const tables = await partitions.sql<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::text::regclass UNION ALL SELECT $1`,
      [table],
    );
    for (const { name } of tables) {
      await expect(partitions.sql(`TRUNCATE ${name}`)).rejects.toThrow('append-only');
      if ((await partitions.count(name)) === 0) continue;
      await expect(partitions.sql(`DELETE FROM ${name}`)).rejects.toThrow('append-only');
      await expect(partitions.sql(`UPDATE ${name} SET resource_id = NULL`)).rejects.toThrow('append-only');
    }
  });

  it('wait for a reader without holding up writers', async () => {
    await partitions.dropMonths();
    await partitions.write(month(0), 10);
    await database.transaction(async (reader) => {
      await reader.query(`SELECT FROM ${table}`);
      const upkeep = partitions.createMissing(2);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await partitions.write(month(0));
      expect(await upkeep).toBe('later');
      expect(await partitions.months()).toEqual([]);
    });
    expect(await partitions.createMissing(2)).toBe('done');
    expect([await partitions.countDefault(), await partitions.count(table)]).toEqual([0, 11]);
  });
});

describe('The rule ledger', () => {
  const database = ownDatabase(8, { forEachTest: true });
  const partitions = new Partitions(database, 'rule_events');
  const upkeep = (): LedgerPartitions => new LedgerPartitions(database);
  const sql = <Row>(statement: string, given: unknown[] = []): Promise<Row[]> =>
    partitions.sql(statement, given);

  it('loses months after their retention, but for one in which a live rule was opened', async () => {
    for (const ahead of [-30, -26, -25, -24])
      await monthPartition({ query: sql } as never, 'rule_events', month(ahead));
    const [target] = await sql<{ id: string }>(
      `INSERT INTO targets (provider, key, resource_type, identifier) VALUES ('AWS', 'k', 'SECURITY_GROUP', 'sg-1') RETURNING id`,
    );
    await sql(
      `INSERT INTO rules (target_id, key, address, protocol, ports, state, possible_since, present_since)
       VALUES ($1, 'k', '203.0.113.7/32', 'tcp', '22', 'present', $2, ${month(-26)} AT TIME ZONE 'UTC' + interval '3 days')`,
      [target!.id, null],
    );
    const { dropped, outcome } = await upkeep().dropExpired(24);
    expect(outcome).toBe('done');
    expect(dropped).toHaveLength(2);
    // 24 whole months are kept, and what is younger
    expect(await partitions.months()).toEqual([-26, -24, 0, 1, 2]);
    await sql('DELETE FROM rules');
    await upkeep().dropExpired(24);
    expect(await partitions.months()).toEqual([-24, 0, 1, 2]);
  });

  it('takes kept events with the time at which they were observed, once it takes any', async () => {
    const [session, rule] = [randomUUID(), randomUUID()];
    const event = {
      kind: 'OPENED',
      target_id: randomUUID(),
      provider: 'AWS',
      target: 'sg-1',
      rule_id: rule,
      address: '203.0.113.7/32',
      protocol: 'tcp',
      ports: '22',
      certain_from: '2026-01-02T03:04:05.678901Z',
      holder_kind: 'SESSION',
      session_id: session,
    };
    await sql(
      `INSERT INTO unwritten_rule_events (event, kept_at) SELECT $1, now() - n * interval '1 minute' FROM generate_series(1, 5) n`,
      [JSON.stringify(event)],
    );
    await sql(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$`,
    );
    await sql(`CREATE TRIGGER refused BEFORE INSERT ON rule_events FOR EACH ROW EXECUTE FUNCTION refuse()`);
    await expect(upkeep().writeUnwritten(3)).rejects.toThrow('full');
    expect(await partitions.count('unwritten_rule_events')).toBe(5);
    await sql('DROP TRIGGER refused ON rule_events');
    expect(await upkeep().writeUnwritten(3)).toBe(3);
    expect(await upkeep().writeUnwritten(3)).toBe(2);
    expect(await upkeep().writeUnwritten(3)).toBe(0);
    const written = await sql<{ minutes: number; from: string }>(
      `SELECT round(extract(epoch FROM now() - at) / 60)::int AS minutes, session_id, rule_id, cause,
         to_char(certain_from AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS from
       FROM rule_events ORDER BY id`,
    );
    expect(written).toEqual(
      [1, 2, 3, 4, 5].map((minutes) => ({
        minutes,
        session_id: session,
        rule_id: rule,
        cause: null,
        from: event.certain_from,
      })),
    );
  });
});
