import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { type AuditEntry, Database, type Tx } from '#entities';
import { AuditChainStore, AuditStore } from '#tenant-store';
import { asOrganizationId, type OrganizationId } from '#rules';
import { BEFORE_FIRST_RECORD } from '#secrets';
import { AuditSealer } from '../../apps/worker/src/audit/audit-sealer';
import { ChainVerifier, type ChainReport, type KeptLink } from '../../apps/worker/src/audit/chain-verifier';
import { cloneDatabase } from '../harness/database';
import { until } from '../harness/until';

const ENTRY: AuditEntry = {
  eventType: 'ROLE_CREATED',
  actorType: 'USER',
  actorId: randomUUID(),
  actorEmail: 'ada@example.com',
  ipAddress: '203.0.113.7',
  resourceType: 'ROLE',
  resourceId: randomUUID(),
  resourceName: 'Developers',
  details: { z: 1, a: { c: [1.5, 'é'], b: null } },
};

/** Another value of a column, by its type; `$` stands for the column. */
const OTHER_VALUES: Readonly<Record<string, string>> = {
  uuid: 'gen_random_uuid()',
  text: `coalesce($, '') || 'x'`,
  'character varying': `coalesce($, '') || 'x'`,
  inet: `'198.51.100.99'`,
  bigint: '$ + 1',
  xid8: '($::text::bigint - 1)::text::xid8',
  jsonb: `coalesce($, '{}') || '{"x": 1}'`,
  'timestamp with time zone': `$ + interval '1 microsecond'`,
};

describe('The chain of audit records', () => {
  let database: Database;
  let drop: () => Promise<void>;
  const audit = new AuditStore();
  const chain = new AuditChainStore();

  beforeEach(async () => {
    const clone = await cloneDatabase();
    drop = clone.drop;
    database = await new Database({ url: clone.url, applicationName: 'chain-test', poolSize: 16 }).connect();
  });
  afterEach(async () => {
    await database.close();
    await drop();
  });

  const sealer = (): AuditSealer => new AuditSealer(database, chain, pino({ level: 'silent' }));

  const sql = <Row>(statement: string, given: unknown[] = []): Promise<Row[]> =>
    database.autocommit.query(statement, given);

  const write = async (organization: OrganizationId, count = 1): Promise<void> => {
    for (let written = 0; written < count; written += 1) {
      await audit.write(database.autocommit, organization, { ...ENTRY, resourceName: `role ${written}` });
    }
  };

  /** Seals whatever there is. Writers elsewhere in the server hold the newest back for a moment. */
  const sealAll = (by = sealer(), most = 1000): Promise<unknown> =>
    until('every record has its seal', async () => {
      await by.sealNext(most);
      const [open] = await sql<{ open: number }>(
        'SELECT count(*)::int AS open FROM audit_records r WHERE NOT EXISTS (SELECT FROM audit_seals s WHERE s.record_id = r.id)',
      );
      return open!.open === 0;
    });

  const verify = (organization: OrganizationId, kept: KeptLink | null = null): Promise<ChainReport> =>
    new ChainVerifier(database, chain, () => undefined, 7).verify(organization, kept);

  /** What only somebody who owns the tables can do. */
  const tamper = (...statements: [string, unknown[]?][]): Promise<void> =>
    database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      for (const [statement, given] of statements) await tx.query(statement, given);
    });

  const chainOf = async (count: number): Promise<OrganizationId> => {
    const organization = asOrganizationId(randomUUID());
    await write(organization, count);
    await sealAll();
    return organization;
  };

  it('an organization without records has an empty one that holds', async () => {
    expect(await verify(asOrganizationId(randomUUID()))).toEqual({
      sealed: 0,
      unsealed: 0,
      lastHash: BEFORE_FIRST_RECORD,
      provenTo: null,
      broken: null,
    });
  });

  it('holds every record once, an organization’s apart from another’s, and grows', async () => {
    const [one, other] = [asOrganizationId(randomUUID()), asOrganizationId(randomUUID())];
    for (let round = 0; round < 3; round += 1) {
      await write(one, 5);
      await write(other, 2);
      await sealAll(sealer(), 4);
    }
    const first = await verify(one);
    expect(first).toMatchObject({ sealed: 15, unsealed: 0, broken: null });
    expect(await verify(other)).toMatchObject({ sealed: 6, unsealed: 0, broken: null });
    await write(one);
    expect(await verify(one)).toEqual({ ...first, unsealed: 1 });
    await sealAll();
    const grown = await verify(one, { position: 15n, hash: first.lastHash });
    expect(grown).toMatchObject({ sealed: 16, unsealed: 0, broken: null });
    expect(grown.lastHash).not.toBe(first.lastHash);
  });

  it('a long run tells how far it has come', async () => {
    const organization = await chainOf(20);
    const told: number[] = [];
    await new ChainVerifier(database, chain, (checked) => void told.push(checked), 7).verify(organization);
    expect(told).toEqual([7, 14, 20, 27, 34, 40]);
  });

  it('writers and sealers, all at once: one unbroken chain for each organization', async () => {
    const organizations = Array.from({ length: 3 }, () => asOrganizationId(randomUUID()));
    const run = { over: false };
    const sealers = [sealer(), sealer(), sealer()].map(async (one) => {
      while (!run.over) await one.sealNext(20);
    });
    const writers = Array.from({ length: 6 }, async (_, index) => {
      for (let written = 0; written < 40; written += 1) {
        // transactions that are open for different times end in another order than they began
        await database.transaction(async (tx) => {
          await audit.write(tx, organizations[index % 3]!, ENTRY);
          await tx.query('SELECT pg_sleep($1)', [((index + written) % 4) / 1000]);
          await audit.write(tx, organizations[(index + written) % 3]!, ENTRY);
        });
      }
    });
    await Promise.all(writers);
    run.over = true;
    await Promise.all(sealers);
    await sealAll();
    const reports = await Promise.all(organizations.map((organization) => verify(organization)));
    expect(reports.map(({ broken, unsealed }) => ({ broken, unsealed }))).toEqual(
      organizations.map(() => ({ broken: null, unsealed: 0 })),
    );
    expect(reports.reduce((sum, { sealed }) => sum + sealed, 0)).toBe(6 * 40 * 2);
  });

  it('a record whose transaction is still open holds nothing up for ever, and is not left out', async () => {
    const organization = asOrganizationId(randomUUID());
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    let begun = (): void => undefined;
    const written = new Promise<void>((resolve) => (begun = resolve));
    const slow = database.transaction(async (tx) => {
      await audit.write(tx, organization, ENTRY);
      begun();
      await held;
    });
    await written;
    await write(organization, 3);
    await sealer().sealNext();
    // later than the open transaction: not sealed before it, or it would be passed
    expect(await verify(organization)).toMatchObject({ sealed: 0, unsealed: 3, broken: null });
    finish();
    await slow;
    await sealAll();
    expect(await verify(organization)).toMatchObject({ sealed: 4, unsealed: 0, broken: null });
  });

  it('a sealer does nothing while another one has the cursor', async () => {
    const organization = await chainOf(1);
    await write(organization);
    await database.transaction(async (tx) => {
      await tx.query('SELECT FROM audit_seal_cursor FOR UPDATE');
      expect(await sealer().sealNext()).toBe(0);
    });
    await sealAll();
    expect(await verify(organization)).toMatchObject({ sealed: 2, broken: null });
  });

  it('records and seals can be neither changed, nor deleted, nor truncated', async () => {
    await chainOf(1);
    for (const statement of [
      `UPDATE audit_records SET actor_email = 'eve@example.com'`,
      'DELETE FROM audit_records',
      'TRUNCATE audit_records CASCADE',
      `UPDATE audit_seals SET hash = ''`,
      'DELETE FROM audit_seals',
      'TRUNCATE audit_seals',
    ]) {
      await expect(sql(statement)).rejects.toThrow('append-only');
    }
  });

  const AT_5 = '(SELECT record_id FROM audit_seals WHERE organization_id = $1 AND position = 5)';

  it.each([
    [
      'a changed field',
      [`UPDATE audit_records SET actor_email = 'eve@example.com' WHERE id = ${AT_5}`],
      'position 5: record',
      4,
    ],
    [
      'a changed detail',
      [`UPDATE audit_records SET details = jsonb_set(details, '{a,b}', '1') WHERE id = ${AT_5}`],
      'position 5: record',
      4,
    ],
    [
      'a timestamp moved by a microsecond',
      [`UPDATE audit_records SET timestamp = timestamp + interval '1 microsecond' WHERE id = ${AT_5}`],
      'position 5: record',
      4,
    ],
    [
      'a record of another organization now',
      [`UPDATE audit_records SET organization_id = gen_random_uuid() WHERE id = ${AT_5}`],
      'position 5: its record is gone',
      4,
    ],
    [
      'a deleted record',
      [`DELETE FROM audit_records WHERE id = ${AT_5}`],
      'position 5: its record is gone',
      4,
    ],
    [
      'a record deleted with its seal',
      [
        `DELETE FROM audit_records WHERE id = ${AT_5}`,
        'DELETE FROM audit_seals WHERE organization_id = $1 AND position = 5',
      ],
      'position 5 is missing, the chain goes on at 6',
      4,
    ],
    [
      'a record deleted with its seal, the gap closed',
      [
        `DELETE FROM audit_records WHERE id = ${AT_5}`,
        'DELETE FROM audit_seals WHERE organization_id = $1 AND position = 5',
        'UPDATE audit_seals SET position = position - 100 WHERE organization_id = $1 AND position > 5',
        'UPDATE audit_seals SET position = position + 99 WHERE organization_id = $1 AND position < 0',
      ],
      'position 5: record',
      4,
    ],
    [
      'the first record deleted with its seal',
      [
        `DELETE FROM audit_records WHERE id = (SELECT record_id FROM audit_seals WHERE organization_id = $1 AND position = 1)`,
        'DELETE FROM audit_seals WHERE organization_id = $1 AND position = 1',
      ],
      'position 1 is missing, the chain goes on at 2',
      0,
    ],
    [
      'two records in the other order',
      [
        'UPDATE audit_seals SET position = -5 WHERE organization_id = $1 AND position = 5',
        'UPDATE audit_seals SET position = 5 WHERE organization_id = $1 AND position = 6',
        'UPDATE audit_seals SET position = 6 WHERE organization_id = $1 AND position = -5',
      ],
      'position 5: record',
      4,
    ],
    [
      'a record put in among the old ones, without a seal',
      [
        `INSERT INTO audit_records (organization_id, sequence, transaction_id, event_type, actor_type)
         SELECT organization_id, 0, transaction_id, event_type, actor_type FROM audit_records WHERE id = ${AT_5}`,
      ],
      'was put in behind the seals',
      10,
    ],
    [
      'a record put in with a seal of its own',
      [
        'UPDATE audit_seals SET position = position + 100 WHERE organization_id = $1 AND position > 4',
        'UPDATE audit_seals SET position = position - 99 WHERE organization_id = $1 AND position > 100',
        `INSERT INTO audit_records (organization_id, event_type, actor_type) VALUES ($1, 'ROLE_DELETED', 'USER')`,
        `INSERT INTO audit_seals (organization_id, position, record_id, hash)
         SELECT $1, 5, id, repeat('a', 64) FROM audit_records WHERE organization_id = $1 AND event_type = 'ROLE_DELETED'`,
      ],
      'position 5: record',
      4,
    ],
    [
      'a seal before the first',
      [
        `INSERT INTO audit_seals (organization_id, position, record_id, hash)
         VALUES ($1, 0, gen_random_uuid(), repeat('a', 64))`,
      ],
      'position 1 is missing, the chain goes on at 0',
      0,
    ],
  ])('shows %s', async (_, statements, words, sealed) => {
    const organization = await chainOf(10);
    const bystander = await chainOf(3);
    await tamper(...statements.map((statement): [string, unknown[]] => [statement, [organization]]));
    const report = await verify(organization);
    expect(report).toMatchObject({ sealed, broken: expect.stringContaining(words) as string });
    expect(await verify(bystander)).toMatchObject({ sealed: 3, broken: null });
  });

  it('shows a change of any column', async () => {
    const columns = await sql<{ name: string; type: string }>(
      `SELECT column_name AS name, data_type AS type FROM information_schema.columns
       WHERE table_schema = current_schema AND table_name = 'audit_records' ORDER BY column_name`,
    );
    expect(columns.length).toBeGreaterThan(10);
    // whoever owns the tables is held by no check
    const checks = await sql<{ name: string }>(
      `SELECT conname AS name FROM pg_constraint WHERE conrelid = 'audit_records'::regclass AND contype = 'c'`,
    );
    for (const { name } of checks) await sql(`ALTER TABLE audit_records DROP CONSTRAINT ${name}`);
    // all sealed before the first is tampered with: a record that lost its id would wait for its seal for ever
    const chains: OrganizationId[] = [];
    for (const _ of columns) chains.push(await chainOf(2));
    const unseen: string[] = [];
    for (const [index, { name, type }] of columns.entries()) {
      const other = OTHER_VALUES[type];
      if (other === undefined) throw new Error(`What is another value of the type ${type}, of ${name}?`);
      const organization = chains[index]!;
      const last = 'SELECT max(sequence) FROM audit_records WHERE organization_id = $1';
      await tamper([
        `UPDATE audit_records SET ${name} = ${other.replaceAll('$', name)}
         WHERE organization_id = $1 AND sequence = (${last})`,
        [organization],
      ]);
      if ((await verify(organization)).broken === null) unseen.push(name);
    }
    expect(unseen).toEqual([]);
  });

  it('shows a record put in behind the last seal, in the transaction of the last sealed record', async () => {
    const organization = await chainOf(3);
    await tamper([
      `INSERT INTO audit_records (organization_id, sequence, transaction_id, event_type, actor_type)
       SELECT $1, 0, transaction_id, 'ROLE_CREATED', 'USER' FROM audit_seal_cursor`,
      [organization],
    ]);
    expect(await verify(organization)).toMatchObject({
      sealed: 3,
      broken: expect.stringContaining('was put in behind the seals') as string,
    });
  });

  it('a chain that lost its end, or was written anew, differs from the link that was kept', async () => {
    const organization = await chainOf(10);
    const { lastHash } = await verify(organization);
    expect(await verify(organization, { position: 10n, hash: lastHash })).toMatchObject({ broken: null });
    expect(await verify(organization, { position: 9n, hash: lastHash })).toMatchObject({
      sealed: 8,
      broken: expect.stringContaining('written anew') as string,
    });
    await tamper(
      [`DELETE FROM audit_records WHERE id IN (SELECT record_id FROM audit_seals WHERE position > 8)`],
      ['DELETE FROM audit_seals WHERE position > 8'],
    );
    expect(await verify(organization)).toMatchObject({ sealed: 8, broken: null });
    expect(await verify(organization, { position: 10n, hash: lastHash })).toMatchObject({
      broken: expect.stringContaining('before the kept position 10') as string,
    });
  });

  it('goes on after a restore into a cluster whose transactions have not come so far', async () => {
    const organization = await chainOf(9);
    await write(organization, 5);
    // as a dump of an older cluster brings it: what is here was written in transactions far ahead
    await tamper([
      'UPDATE audit_records SET transaction_id = transaction_id + 1000000000 WHERE id NOT IN (SELECT record_id FROM audit_seals)',
    ]);
    await sql('UPDATE audit_seal_cursor SET transaction_id = transaction_id + 900000000');
    await write(organization, 2);
    expect(await verify(organization)).toMatchObject({ sealed: 9, unsealed: 7, broken: null });
    await sealAll(sealer(), 3);
    expect(await verify(organization)).toMatchObject({ sealed: 16, unsealed: 0, broken: null });
    await write(organization, 4);
    await sealAll(sealer(), 3);
    expect(await verify(organization)).toMatchObject({ sealed: 20, unsealed: 0, broken: null });
    // and it is not for ever at the beginning
    expect(
      await until('nothing is left to do', async () => !(await chain.isBehind(database.autocommit))),
    ).toBe(true);
  });

  it('an idle sealer reads one index entry of 200,000 records', async () => {
    await sql(
      `INSERT INTO audit_records (organization_id, event_type, actor_type)
       SELECT gen_random_uuid(), 'ROLE_CREATED', 'USER' FROM generate_series(1, 200000)`,
    );
    await sql('ANALYZE audit_records');
    await sql(
      `INSERT INTO audit_seal_cursor (id, transaction_id, sequence)
       SELECT 1, max(transaction_id), max(sequence) FROM audit_records
       ON CONFLICT (id) DO UPDATE SET transaction_id = excluded.transaction_id, sequence = excluded.sequence`,
    );
    const plans: string[] = [];
    const explaining = {
      query: async (statement: string): Promise<unknown> => {
        const lines = await sql<{ 'QUERY PLAN': string }>(
          `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) ${statement}`,
        );
        plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
        return sql(statement);
      },
    };
    await expect(chain.isBehind(explaining as Tx)).resolves.toBe(false);
    expect(plans[0]).toContain('audit_records_transaction_id_idx');
    expect(plans[0]).not.toContain('Seq Scan on audit_records');
  });
});
