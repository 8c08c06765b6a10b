import { randomUUID } from 'node:crypto';
import { type LedgerRow, LedgerStore } from '#engine-store';
import { auditTable, AuditTrail, SYSTEM_ACTOR, type Tx } from '#entities';
import type { OrganizationId } from '#rules';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

const ORGANIZATION = randomUUID() as OrganizationId;
const TABLES = ['audit_records', 'rule_events', 'unwritten_audit_records', 'unwritten_rule_events'];

describe('Work that revokes access', () => {
  const database = ownDatabase(2);
  let closed: LedgerRow;

  beforeAll(async () => {
    const { autocommit } = database;
    const rows = new LedgerRows(database);
    const targetId = await rows.target();
    closed = {
      kind: 'CLOSED',
      at: new Date(),
      ruleId: await rows.rule(targetId, [new Date(), new Date(), null, null]),
      targetId,
      provider: 'AWS',
      target: 'sg-1',
      address: '203.0.113.1/32',
      protocol: 'tcp',
      ports: '22',
      holderKind: 'OTHER',
      workerId: 'worker',
      passId: randomUUID(),
    } as LedgerRow;
    await autocommit.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
    await autocommit.query(
      'CREATE TRIGGER refused BEFORE INSERT ON audit_records FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
  });

  const record = async (tx: Tx): Promise<void> => {
    const entry = { ...SYSTEM_ACTOR, resourceType: null, resourceId: null, resourceName: null };
    await new AuditTrail().write(tx, ORGANIZATION, { ...entry, eventType: 'SESSION_STOPPED' });
  };

  const recordWithEvent = async (tx: Tx): Promise<void> => {
    await new LedgerStore().record(tx, [closed]);
    await record(tx);
  };

  async function written(): Promise<number[]> {
    const counts = TABLES.map((table) => `(SELECT count(*)::int FROM ${table})`);
    const [row] = await database.autocommit.query<{ counts: number[] }[]>(
      `SELECT ARRAY[${counts.join(', ')}] AS counts`,
    );
    return row!.counts;
  }

  it('is carried out though its audit record is refused, whose table takes it beside the trail', async () => {
    await expect(database.transaction(recordWithEvent)).rejects.toThrow('the disk is full');
    expect(await written()).toEqual([0, 0, 0, 0]);
    await database.revocation(recordWithEvent);
    expect(await written()).toEqual([0, 0, 1, 1]);
    await database.revocation(record, 'statement');
    await database.revocation(record, 'repeatable');
    expect(await written()).toEqual([0, 0, 3, 1]);
  });

  /** @returns the audit tables that the work was run with, and its error */
  async function failing(code: string): Promise<unknown[]> {
    const tables = new Set<string>();
    const work = database.revocation(async (tx) => {
      tables.add(auditTable(tx));
      if (tables.size === 1)
        await tx.query(`DO $$ BEGIN RAISE EXCEPTION 'failed' USING ERRCODE = '${code}'; END $$`);
    });
    const failure = await work.catch((error: { code?: string }) => error.code);
    return [...tables, failure];
  }

  it.each(['42501', '23514', 'P0001', '53100'])('is repeated beside the trail after %s', async (code) => {
    expect(await failing(code)).toEqual(['audit_records', 'unwritten_audit_records', undefined]);
  });

  it.each([
    ['57014', 'a statement time-out'],
    ['57P01', 'a server that shuts down'],
    ['40001', 'a serialization failure'],
    ['08006', 'a lost connection'],
    ['53300', 'a full server'],
  ])('fails after %s, %s', async (code) => {
    expect(await failing(code)).toEqual(['audit_records', code]);
  });
});
