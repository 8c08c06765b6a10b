import type { OrganizationId } from '#rules';
import { AuditChainBench } from '../builders/audit/audit-chain';

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

describe('Tampering with audit records', () => {
  const log = new AuditChainBench();

  it('records and seals cannot be changed, deleted or truncated', async () => {
    await log.chainOf(1);
    for (const statement of [
      `UPDATE audit_records SET actor_email = 'eve@example.com'`,
      'DELETE FROM audit_records',
      'TRUNCATE audit_records CASCADE',
      `UPDATE audit_seals SET hash = ''`,
      'DELETE FROM audit_seals',
      'TRUNCATE audit_seals',
    ]) {
      await expect(log.sql(statement)).rejects.toThrow('append-only');
    }
  });

  const AT_5 = '(SELECT record_id FROM audit_seals WHERE organization_id = $1 AND position = 5)';
  const DELETION = `DELETE FROM audit_records WHERE id = ${AT_5}`;
  const UNSEALING = 'DELETE FROM audit_seals WHERE organization_id = $1 AND position = 5';

  it.each([
    [
      'a changed detail',
      [`UPDATE audit_records SET details = jsonb_set(details, '{a,b}', '1') WHERE id = ${AT_5}`],
      'position 5: record',
      4,
    ],
    ['a deleted record', [DELETION], 'position 5: its record is gone', 4],
    [
      'a record deleted with its seal',
      [DELETION, UNSEALING],
      'position 5 is missing, the chain goes on at 6',
      4,
    ],
    [
      'a record deleted with its seal, the gap closed',
      [
        DELETION,
        UNSEALING,
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
        `INSERT INTO audit_seals (organization_id, position, record_id, recorded_at, hash)
         SELECT $1, 5, id, timestamp, repeat('a', 64) FROM audit_records WHERE organization_id = $1 AND event_type = 'ROLE_DELETED'`,
      ],
      'position 5: record',
      4,
    ],
    [
      'a seal before the first',
      [
        `INSERT INTO audit_seals (organization_id, position, record_id, recorded_at, hash)
         VALUES ($1, 0, gen_random_uuid(), now(), repeat('a', 64))`,
      ],
      'position 1 is missing, the chain goes on at 0',
      0,
    ],
  ])('detects %s', async (_, statements, message, sealed) => {
    const organization = await log.chainOf(10);
    const bystander = await log.chainOf(3);
    await log.tamper(...statements.map((statement): [string, unknown[]] => [statement, [organization]]));
    const report = await log.verify(organization);
    expect(report).toMatchObject({ sealed, broken: expect.stringContaining(message) as string });
    expect(await log.verify(bystander)).toMatchObject({ sealed: 3, broken: null });
  });

  it('detects a change of any column', async () => {
    const columns = await log.sql<{ name: string; type: string }>(
      `SELECT column_name AS name, data_type AS type FROM information_schema.columns
       WHERE table_schema = current_schema AND table_name = 'audit_records' ORDER BY column_name`,
    );
    expect(columns.length).toBeGreaterThan(10);
    // the owner of the tables can drop checks
    const checks = await log.sql<{ name: string }>(
      `SELECT conname AS name FROM pg_constraint WHERE conrelid = 'audit_records'::regclass AND contype = 'c'`,
    );
    for (const { name } of checks) await log.sql(`ALTER TABLE audit_records DROP CONSTRAINT ${name}`);
    // all sealed before the first is tampered with: a record that lost its id would wait for its seal for ever
    const chains: OrganizationId[] = [];
    while (chains.length < columns.length) chains.push(await log.chainOf(2));
    const unseen: string[] = [];
    for (const [index, { name, type }] of columns.entries()) {
      const other = OTHER_VALUES[type];
      if (other === undefined) throw new Error(`What is another value of the type ${type}, of ${name}?`);
      const organization = chains[index]!;
      const last = 'SELECT max(sequence) FROM audit_records WHERE organization_id = $1';
      await log.tamper([
        `UPDATE audit_records SET ${name} = ${other.replaceAll('$', name)}
         WHERE organization_id = $1 AND sequence = (${last})`,
        [organization],
      ]);
      if ((await log.verify(organization)).broken === null) unseen.push(name);
    }
    expect(unseen).toEqual([]);
  });

  it('detects a record inserted behind the last seal, in the transaction of the last sealed record', async () => {
    const organization = await log.chainOf(3);
    await log.tamper([
      `INSERT INTO audit_records (organization_id, sequence, transaction_id, event_type, actor_type)
       SELECT $1, 0, transaction_id, 'ROLE_CREATED', 'USER' FROM audit_seal_cursor`,
      [organization],
    ]);
    expect(await log.verify(organization)).toMatchObject({
      sealed: 3,
      broken: expect.stringContaining('was put in behind the seals') as string,
    });
  });

  it('a truncated or rewritten chain differs from the kept link', async () => {
    const organization = await log.chainOf(10);
    const { lastHash } = await log.verify(organization);
    expect(await log.verify(organization, { position: 10n, hash: lastHash })).toMatchObject({ broken: null });
    expect(await log.verify(organization, { position: 9n, hash: lastHash })).toMatchObject({
      sealed: 8,
      broken: expect.stringContaining('written anew') as string,
    });
    await log.tamper(
      [`DELETE FROM audit_records WHERE id IN (SELECT record_id FROM audit_seals WHERE position > 8)`],
      ['DELETE FROM audit_seals WHERE position > 8'],
    );
    expect(await log.verify(organization)).toMatchObject({ sealed: 8, broken: null });
    expect(await log.verify(organization, { position: 10n, hash: lastHash })).toMatchObject({
      broken: expect.stringContaining('before the kept position 10') as string,
    });
  });
});
