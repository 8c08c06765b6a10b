import { asOrganizationId, SESSION_STATUSES, type OrganizationId, type SessionStatus } from '#rules';
import {
  type AuditFilter,
  AuditStore,
  type SessionFilter,
  SessionStore,
  UnwrittenAuditStore,
} from '#tenant-store';
import { ownDatabase } from '../harness/database/own-database';

const SESSIONS = 1500;
const HOUR_MS = 3_600_000;
const sizes = [7, 100];

/** Pages and totals are compared with those of a query that reads and sorts the whole list. */
describe('A list that grows without bound', () => {
  const database = ownDatabase(2);
  let organization: OrganizationId;
  let users: string[];
  let resources: string[];
  const sessions = new SessionStore();
  const audit = new AuditStore();

  const query = <Row>(statement: string, given: readonly unknown[] = []): Promise<Row[]> =>
    database.autocommit.query<Row[]>(statement, [...given]);

  beforeAll(async () => {
    const made = await query<{ id: string; userId: string }>(
      `WITH o AS (INSERT INTO organizations (name, slug) SELECT 'Example', 'example-' || n FROM generate_series(1, 2) n RETURNING id)
       INSERT INTO users (organization_id, email, name) SELECT o.id, n || '@example.com', 'A' FROM o, generate_series(1, 2) n
       RETURNING organization_id AS id, id AS "userId"`,
    );
    organization = asOrganizationId(made[0]!.id);
    users = made.filter(({ id }) => id === organization).map(({ userId }) => userId);
    resources = (
      await query<{ id: string }>('SELECT gen_random_uuid() AS id FROM generate_series(1, 2)')
    ).map(({ id }) => id);
    // of both organizations; pairs of the same time, two addresses each, some unfinished, some that lasted for days
    for (const { id, userId } of made) {
      await query(
        `WITH plan AS (
           SELECT gen_random_uuid() AS id, n, now() - interval '30 minutes' * (n / 2 + 1) AS at,
             CASE WHEN n % 700 = 0 THEN 'ACTIVE' WHEN n % 50 = 0 THEN 'FAILED' WHEN n % 3 = 0 THEN 'CANCELLED' ELSE 'EXPIRED' END AS status,
             interval '1 hour' * CASE WHEN n % 400 = 0 THEN 100 ELSE n % 25 END AS lasted
           FROM generate_series(1, $3::int) n
         ), session AS (
           INSERT INTO sessions (id, organization_id, user_id, ipv4_address, holder, status, started_at, created_at, expires_at, ended_at)
           SELECT id, $1, $2, '192.0.2.1', n, status, at, at, at + lasted, CASE WHEN status <> 'ACTIVE' THEN at + lasted END FROM plan
         ), ip AS (
           INSERT INTO resource_ips (organization_id, session_id, resource_id, ip_version, ip_address, status, created_at)
           SELECT $1, id, CASE WHEN n % 500 = 1 THEN $5::uuid ELSE $4 END, version, '192.0.2.1', 'REMOVED', at
           FROM plan, unnest(ARRAY[4, 6]) version WHERE $1 = $6
         )
         INSERT INTO audit_records (organization_id, event_type, actor_type, actor_id, actor_email, resource_id, timestamp, details)
         SELECT $1, CASE WHEN n % 500 = 0 THEN 'USER_LOGIN' ELSE 'SESSION_STARTED' END, 'USER', $2::uuid, n % 2 || '@example.com', id, at,
           CASE WHEN n % 2 = 0 THEN jsonb_build_object('userId', $2) ELSE '{}' END FROM plan`,
        [id, userId, SESSIONS, ...resources, organization],
      );
    }
    await database.autocommit.query('ANALYZE');
  });

  /** As the store, by the definition of each filter. */
  async function allSessions(filter: SessionFilter): Promise<string[]> {
    const rows = await query<{ id: string }>(
      `SELECT s.id FROM sessions s WHERE s.organization_id = $1 AND ($2::uuid IS NULL OR s.user_id = $2)
         AND ($3::uuid IS NULL OR EXISTS (SELECT FROM resource_ips f WHERE f.session_id = s.id AND f.resource_id = $3))
         AND ($4::text[] IS NULL OR s.status = ANY ($4))
         AND ($5::timestamptz IS NULL OR coalesce(s.ended_at, s.expires_at) >= $5)
         AND ($6::timestamptz IS NULL OR s.started_at < $6::timestamptz + interval '1 millisecond')
       ORDER BY s.created_at DESC, s.id DESC`,
      [
        organization,
        filter.userId ?? null,
        filter.resourceId ?? null,
        filter.statuses ?? null,
        filter.from,
        filter.to,
      ],
    );
    return rows.map(({ id }) => id);
  }

  async function allRecords(filter: AuditFilter): Promise<string[]> {
    const rows = await query<{ id: string }>(
      `SELECT a.id FROM audit_records a WHERE a.organization_id = $1
         AND ($2::timestamptz IS NULL OR a.timestamp >= $2)
         AND ($3::timestamptz IS NULL OR a.timestamp < $3::timestamptz + interval '1 millisecond')
         AND ($4::text[] IS NULL OR a.event_type = ANY ($4)) AND ($5::text IS NULL OR a.actor_email = $5)
         AND ($6::uuid IS NULL OR a.resource_id = $6)
         AND ($7::uuid IS NULL OR $7 IN (a.actor_id, a.resource_id) OR a.details->>'userId' = $7::text
           OR a.resource_id IN (SELECT id FROM sessions WHERE user_id = $7))
       ORDER BY a.timestamp DESC, a.sequence DESC`,
      [
        organization,
        filter.from,
        filter.to,
        filter.eventTypes,
        filter.actorEmail,
        filter.resourceId,
        filter.concerns,
      ],
    );
    return rows.map(({ id }) => id);
  }

  /** The first and the last page, two in the middle, the nearer to either end, and the one behind the last. */
  async function compare(
    all: readonly string[],
    read: (slice: { page: number; size: number }) => Promise<{ rows: { id: string }[]; total: number }>,
  ): Promise<void> {
    for (const size of sizes) {
      const last = Math.floor(all.length / size);
      const pages = [0, (last >> 1) - 1, last >> 1, last, last + 1].filter((page) => page >= 0);
      for (const page of new Set(pages)) {
        const { rows, total } = await read({ page, size });
        expect({ page, size, total, ids: rows.map(({ id }) => id) }).toEqual({
          page,
          size,
          total: all.length,
          ids: all.slice(page * size, (page + 1) * size),
        });
      }
    }
  }

  const compareSessions = async (filter: SessionFilter): Promise<void> =>
    compare(await allSessions(filter), (slice) =>
      sessions.list(database.autocommit, organization, filter, slice),
    );
  const compareRecords = async (filter: AuditFilter): Promise<void> =>
    compare(await allRecords(filter), (slice) =>
      audit.list(database.autocommit, organization, filter, slice),
    );

  const ago = (hours: number): Date => new Date(Date.now() - hours * HOUR_MS);
  const intervals = (): { from: Date | null; to: Date | null }[] => [
    { from: null, to: null },
    { from: ago(300), to: null },
    { from: null, to: ago(300) },
    { from: ago(500), to: ago(100) },
    { from: ago(5000), to: ago(4000) },
    { from: ago(-1000), to: null },
  ];
  const sessionFilters = (): object[] => [
    {},
    { userId: users[0] },
    { userId: users[1] },
    { resourceId: resources[0] },
    { resourceId: resources[1] },
    { statuses: ['EXPIRED'] },
    { statuses: ['ACTIVE'] },
    { statuses: ['PENDING', 'ACTIVE', 'FAILED', 'CANCELLED'] },
    { statuses: SESSION_STATUSES },
    { statuses: [] as SessionStatus[] },
    { resourceId: resources[0], statuses: ['ACTIVE', 'EXPIRED'] },
    { userId: users[0], resourceId: resources[0], statuses: ['FAILED', 'EXPIRED'] },
  ];

  it('of sessions has exact pages and totals with every filter', async () => {
    for (const filter of sessionFilters())
      for (const interval of intervals()) await compareSessions({ ...filter, ...interval });
  });

  it('of sessions of a resource that has none reads nothing else', async () => {
    const [{ id }] = (await query<{ id: string }>('SELECT gen_random_uuid() AS id')) as [{ id: string }];
    const filters: SessionFilter[] = [{ resourceId: id, from: null, to: null }];
    filters.push({ ...filters[0]!, userId: users[0] }, { ...filters[0]!, statuses: ['EXPIRED'] });
    for (const filter of filters) {
      const read = await database.transaction(async (tx) => {
        // counts earlier transactions of this connection, too
        const rowsRead = async (): Promise<number> =>
          (
            await tx.query<{ n: number }[]>(
              `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS n FROM pg_stat_xact_user_tables
               WHERE relname IN ('resource_ips', 'sessions')`,
            )
          )[0]!.n;
        const before = await rowsRead();
        const page = await sessions.list(tx, organization, filter, { page: 0, size: 20 });
        expect(page).toEqual({ rows: [], total: 0 });
        return (await rowsRead()) - before;
      });
      // the planner may read the ends of an index, for each status
      expect(read).toBeLessThan(50);
    }
  });

  it('of audit records has exact pages and totals with every filter, also after one was written late', async () => {
    const none = { eventTypes: null, actorEmail: null, resourceId: null, concerns: null };
    const [record] = await query<{ resourceId: string }>(
      'SELECT resource_id AS "resourceId" FROM audit_records WHERE organization_id = $1 LIMIT 1',
      [organization],
    );
    const filters: Omit<AuditFilter, 'from' | 'to'>[] = [
      none,
      { ...none, eventTypes: ['SESSION_STARTED'] },
      { ...none, eventTypes: ['USER_LOGIN', 'SESSION_STARTED', 'SESSION_STOPPED'] },
      { ...none, actorEmail: '1@example.com' },
      { ...none, resourceId: record!.resourceId },
      { ...none, concerns: users[0]! },
      { ...none, concerns: users[1]! },
      { ...none, eventTypes: ['SESSION_STARTED'], actorEmail: '0@example.com', concerns: users[0]! },
    ];
    await query(
      `INSERT INTO unwritten_audit_records (organization_id, entry, kept_at)
       VALUES ($1, '{"eventType": "SESSION_STOPPED", "actorType": "SYSTEM"}', now() - interval '400 hours')`,
      [organization],
    );
    for (const filter of filters)
      for (const interval of intervals()) await compareRecords({ ...filter, ...interval });
    expect(await new UnwrittenAuditStore().write(database.autocommit, organization, 10)).toBe(1);
    for (const filter of filters)
      for (const interval of intervals()) await compareRecords({ ...filter, ...interval });
  });
});
