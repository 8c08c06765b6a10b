import { randomUUID } from 'node:crypto';
import type { OrganizationId } from '#rules';
import { SessionRetentionStore } from '#tenant-store';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

const DAYS = 30;
/** one an hour, for 125 days */
const SESSIONS = 3000;

describe('Ended sessions past their retention', () => {
  const database = ownDatabase(4, { forEachTest: true });
  let organization: OrganizationId;
  let user: string;
  const resource = randomUUID();
  const store = new SessionRetentionStore();

  const sql = <Row>(statement: string, given: readonly unknown[] = []): Promise<Row[]> =>
    database.autocommit.query<Row[]>(statement, [...given]);
  const count = async (from: string): Promise<number> =>
    (await sql<{ n: number }>(`SELECT count(*)::int AS n FROM ${from}`))[0]!.n;

  beforeEach(async () => {
    ({ organizationId: organization, userId: user } = await new LedgerRows(database).organization());
    await seed(SESSIONS, 'EXPIRED', 'REMOVED');
    await sql('ANALYZE');
  });

  /** One an hour, an hour long, from an hour ago. */
  const seed = (amount: number, status: string, ipStatus: string, hoursAgo = 2): Promise<{ id: string }[]> =>
    sql<{ id: string }>(
      `WITH plan AS (
         SELECT gen_random_uuid() AS id, now() - make_interval(hours => n + $6::int - 1) AS at FROM generate_series(1, $4::int) n
       ), session AS (
         INSERT INTO sessions (id, organization_id, user_id, ipv4_address, holder, status, started_at, created_at, expires_at, ended_at)
         SELECT id, $1, $2, '192.0.2.1', id, $5, at, at, at + interval '1 hour', at + interval '1 hour' FROM plan
       )
       INSERT INTO resource_ips (organization_id, session_id, resource_id, ip_version, ip_address, status, created_at)
       SELECT $1, id, $3, 4, '192.0.2.1', $7, at FROM plan RETURNING session_id AS id`,
      [organization, user, resource, amount, status, hoursAgo, ipStatus],
    );

  const deleteOld = (): Promise<number> => store.deleteOld(database, organization, DAYS, 100);

  it('are deleted with their addresses, whatever their status', async () => {
    await sql(
      `UPDATE sessions SET status = (ARRAY['EXPIRED', 'CANCELLED', 'FAILED'])[1 + (extract(epoch FROM created_at) / 3600)::int % 3]`,
    );
    expect(await store.organizations(database.autocommit, DAYS)).toEqual([organization]);
    const deleted = await deleteOld();
    expect(deleted).toBeGreaterThan(SESSIONS - (DAYS + 2) * 24);
    expect(deleted).toBeLessThan(SESSIONS - (DAYS - 1) * 24);
    expect(await count('sessions')).toBe(SESSIONS - deleted);
    expect(await count('resource_ips')).toBe(SESSIONS - deleted);
    expect(await deleteOld()).toBe(0);
    expect(await store.organizations(database.autocommit, DAYS)).toEqual([]);
  });

  it('are kept while anything of them may be open', async () => {
    const old = 100 * 24;
    const kept = [
      ...(await seed(3, 'EXPIRING', 'REMOVING', old)),
      ...(await seed(3, 'ACTIVE', 'APPLIED', old)),
      ...(await seed(3, 'FAILED', 'PENDING', old)),
    ];
    const [held] = await seed(1, 'EXPIRED', 'REMOVED', old);
    await sql(
      `WITH t AS (INSERT INTO targets (provider, key, resource_type, identifier) VALUES ('AWS', 'k', 'X', 'x') RETURNING id),
       r AS (INSERT INTO rules (target_id, key, address, protocol, ports) SELECT id, 'k', '192.0.2.1/32', 'tcp', '22' FROM t RETURNING id)
       INSERT INTO rule_holders (rule_id, resource_ip_id) SELECT r.id, ip.id FROM r, resource_ips ip WHERE ip.session_id = $1`,
      [held!.id],
    );
    const ids = [...kept, held!].map(({ id }) => id);
    await deleteOld();
    expect(await count(`sessions WHERE id IN ('${ids.join(`','`)}')`)).toBe(ids.length);
    expect(await count('rule_holders')).toBe(1);
    // nor can another statement delete them
    for (const id of ids)
      await expect(sql('DELETE FROM sessions WHERE id = $1', [id])).rejects.toThrow(
        'may still hold an open rule',
      );
    await sql('DELETE FROM rule_holders');
    await sql(`UPDATE resource_ips SET status = 'REMOVED'`);
    await sql(`UPDATE sessions SET status = 'EXPIRED'`);
    await deleteOld();
    expect(await count(`sessions WHERE id IN ('${ids.join(`','`)}')`)).toBe(0);
  });

  it('are kept while the trail has a denied action on them: their owner sees it in the own records', async () => {
    const [old] = await seed(1, 'EXPIRED', 'REMOVED', 100 * 24);
    await sql(
      `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_id, result)
       VALUES ($1, 'SESSION_STOPPED', 'USER', $2, 'FAILURE')`,
      [organization, old!.id],
    );
    await deleteOld();
    expect(await count(`sessions WHERE id = '${old!.id}'`)).toBe(1);
  });
});
