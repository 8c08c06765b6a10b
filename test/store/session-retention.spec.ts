import { asOrganizationId, type OrganizationId } from '#rules';
import { type SessionFilter, SessionRetentionStore, SessionStore } from '#tenant-store';
import { ownDatabase } from '../harness/database/own-database';

const DAYS = 30;
/** one an hour, for 125 days */
const SESSIONS = 3000;

describe('Ended sessions past their retention', () => {
  const database = ownDatabase(4, { forEachTest: true });
  let organization: OrganizationId;
  let user: string;
  let resource: string;
  const store = new SessionRetentionStore();
  const sessions = new SessionStore();

  const sql = <Row>(statement: string, given: readonly unknown[] = []): Promise<Row[]> =>
    database.autocommit.query<Row[]>(statement, [...given]);
  const count = async (from: string): Promise<number> =>
    (await sql<{ n: number }>(`SELECT count(*)::int AS n FROM ${from}`))[0]!.n;

  beforeEach(async () => {
    const [made] = await sql<{ id: string; userId: string; resourceId: string }>(
      `WITH o AS (INSERT INTO organizations (name, slug) VALUES ('Example', 'example') RETURNING id)
       INSERT INTO users (organization_id, email, name) SELECT id, 'ada@example.com', 'Ada' FROM o
       RETURNING organization_id AS id, id AS "userId", gen_random_uuid() AS "resourceId"`,
    );
    organization = asOrganizationId(made!.id);
    ({ userId: user, resourceId: resource } = made!);
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

  const filters = (): SessionFilter[] => {
    const all = { from: null, to: null };
    return [
      all,
      { ...all, statuses: ['EXPIRED'] },
      { ...all, userId: user },
      { ...all, resourceId: resource, statuses: ['EXPIRED', 'CANCELLED'] },
      { from: new Date(Date.now() - 40 * 86_400_000), to: new Date(Date.now() - 20 * 86_400_000) },
    ];
  };

  /** Pages and totals of the list as a query says that reads all of it. */
  const expectExactLists = async (): Promise<void> => {
    for (const filter of filters()) {
      const rows = await sql<{ id: string }>(
        `SELECT id FROM sessions WHERE organization_id = $1 AND ($2::text[] IS NULL OR status = ANY ($2))
           AND ($3::timestamptz IS NULL OR coalesce(ended_at, expires_at) >= $3)
           AND ($4::timestamptz IS NULL OR started_at <= $4) ORDER BY created_at DESC, id DESC`,
        [organization, filter.statuses ?? null, filter.from, filter.to],
      );
      for (const page of [0, Math.floor(rows.length / 14), Math.floor(rows.length / 7)]) {
        const listed = await sessions.list(database.autocommit, organization, filter, { page, size: 7 });
        expect({ total: listed.total, ids: listed.rows.map(({ id }) => id) }).toEqual({
          total: rows.length,
          ids: rows.slice(page * 7, page * 7 + 7).map(({ id }) => id),
        });
      }
    }
  };

  const deleteOld = (): Promise<number> => store.deleteOld(database, organization, DAYS, 100);

  it('are deleted with their addresses, whatever their status; lists and totals stay exact', async () => {
    await sql(
      `UPDATE sessions SET status = (ARRAY['EXPIRED', 'CANCELLED', 'FAILED'])[1 + (extract(epoch FROM created_at) / 3600)::int % 3]`,
    );
    await expectExactLists();
    expect(await store.organizations(database.autocommit, DAYS)).toEqual([organization]);
    const deleted = await deleteOld();
    expect(deleted).toBeGreaterThan(SESSIONS - (DAYS + 2) * 24);
    expect(deleted).toBeLessThan(SESSIONS - (DAYS - 1) * 24);
    expect(await count('sessions')).toBe(SESSIONS - deleted);
    expect(await count('resource_ips')).toBe(SESSIONS - deleted);
    await expectExactLists();
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
    await expectExactLists();
    await sql('DELETE FROM rule_holders');
    await sql(`UPDATE resource_ips SET status = 'REMOVED'`);
    await sql(`UPDATE sessions SET status = 'EXPIRED'`);
    await deleteOld();
    expect(await count(`sessions WHERE id IN ('${ids.join(`','`)}')`)).toBe(0);
    await expectExactLists();
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
