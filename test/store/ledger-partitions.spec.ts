import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { LedgerPartitions } from '#entities';
import { month, monthPartition } from '../builders/audit/audit-months';
import { ownDatabase } from '../harness/database/own-database';

const COLUMNS = `kind, target_id, provider, target, address, protocol, ports, holder_kind`;
const VALUES = `'OPENED', gen_random_uuid(), 'AWS', 'sg-1', '203.0.113.7/32', 'tcp', '22', 'SESSION'`;

describe('The partitions of the rule ledger', () => {
  const database = ownDatabase(8, { forEachTest: true });

  const sql = <Row>(statement: string, given: unknown[] = []): Promise<Row[]> =>
    database.autocommit.query(statement, given);

  const upkeep = (): LedgerPartitions => new LedgerPartitions(database);

  /** The months relative to this one that have a partition. */
  const months = async (): Promise<number[]> => {
    const rows = await sql<{ ahead: number }>(
      `SELECT (extract(year FROM m) * 12 + extract(month FROM m) - extract(year FROM n) * 12 - extract(month FROM n))::int AS ahead
       FROM (SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS m, now() AT TIME ZONE 'UTC' AS n
         FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'rule_events'::regclass AND c.relname <> 'rule_events_default') known ORDER BY 1`,
    );
    return rows.map(({ ahead }) => ahead);
  };

  const dropMonths = async (): Promise<void> => {
    const names = await sql<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits
       WHERE inhparent = 'rule_events'::regclass AND inhrelid <> 'rule_events_default'::regclass`,
    );
    for (const { name } of names) await sql(`DROP TABLE ${name}`);
  };

  const write = (at: string, count = 1): Promise<unknown> =>
    sql(
      `INSERT INTO rule_events (at, ${COLUMNS})
       SELECT (${at} + n * interval '1 second') AT TIME ZONE 'UTC', ${VALUES} FROM generate_series(1, ${count}) n`,
    );

  const count = async (table: string): Promise<number> =>
    (await sql<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`))[0]!.count;

  it('exist for this month and the next two after the migration', async () => {
    expect(await months()).toEqual([0, 1, 2]);
    expect(await upkeep().createMissing(2)).toBe('done');
    expect(await months()).toEqual([0, 1, 2]);
  });

  it('are created by one of several workers', async () => {
    await dropMonths();
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => upkeep().createMissing(2)));
    expect(outcomes).toContain('done');
    expect(await months()).toEqual([0, 1, 2]);
    expect(await upkeep().createMissing(3)).toBe('done');
    expect(await months()).toEqual([0, 1, 2, 3]);
  });

  it('take over the events that no partition was made for, of past months too, without copying them', async () => {
    await dropMonths();
    await write(month(0), 6000);
    await write(month(-3), 20);
    const ids = await sql('SELECT at, id FROM rule_events ORDER BY at, id');
    expect(await count('rule_events_default')).toBe(6020);
    const file = (name: string): Promise<unknown[]> =>
      sql(`SELECT relfilenode FROM pg_class WHERE relname = ${name}`);
    const before = await file(`'rule_events_default'`);
    expect(await upkeep().createMissing(2)).toBe('done');
    expect(await months()).toEqual([0, 1, 2]);
    expect(await file(`'rule_events_' || to_char(${month(0)}, 'YYYY_MM')`)).toEqual(before);
    expect(await count('rule_events_default')).toBe(0);
    expect(await sql('SELECT at, id FROM rule_events ORDER BY at, id')).toEqual(ids);
    await write(month(1));
    expect(await count('rule_events_default')).toBe(0);
    await write(month(7));
    expect(await count('rule_events_default')).toBe(1);
    // as append-only as any other, by itself too
    await expect(sql('TRUNCATE rule_events')).rejects.toThrow('append-only');
    await expect(sql('DELETE FROM rule_events')).rejects.toThrow('append-only');
    await expect(sql(`UPDATE rule_events SET kind = 'CLOSED'`)).rejects.toThrow('append-only');
  });

  it('wait for a reader without holding up writers', async () => {
    await dropMonths();
    await write(month(0), 10);
    const reader = new Client({ connectionString: database.url });
    await reader.connect();
    try {
      await reader.query('BEGIN');
      await reader.query('SELECT FROM rule_events');
      const upkeeping = upkeep().createMissing(2);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await write(month(0));
      expect(await upkeeping).toBe('later');
      expect(await months()).toEqual([]);
      await reader.query('COMMIT');
    } finally {
      await reader.end();
    }
    expect(await upkeep().createMissing(2)).toBe('done');
    expect(await count('rule_events')).toBe(11);
    expect(await count('rule_events_default')).toBe(0);
  });

  it('are dropped after their retention, but for one in which a live rule was opened', async () => {
    const owner = new Client({ connectionString: database.url });
    await owner.connect();
    for (const ahead of [-30, -26, -25, -24]) await monthPartition(owner, 'rule_events', month(ahead));
    await owner.end();
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
    expect(await months()).toEqual([-26, -24, 0, 1, 2]);
    await sql('DELETE FROM rules');
    await upkeep().dropExpired(24);
    expect(await months()).toEqual([-24, 0, 1, 2]);
  });

  it('take kept events with the time at which they were observed, once they take any', async () => {
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
    expect(await count('unwritten_rule_events')).toBe(5);
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
