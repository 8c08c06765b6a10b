import { ownDatabase } from '../harness/database/own-database';

const ENDED = 50_000;
const LIVE = 49;
const PER_USER = 50;
/** of 8 kB: the live sessions, the way to them in two indexes, and the user's row */
const MAX_PAGES = 150;

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

describe('The limit of live sessions', () => {
  const database = ownDatabase(2);
  let userId: string;

  beforeAll(async () => {
    const tx = database.autocommit;
    const [user] = await tx.query<{ id: string }[]>(
      `WITH o AS (INSERT INTO organizations (name, slug) VALUES ('Example', 'example') RETURNING id)
       INSERT INTO users (organization_id, email, name) SELECT id, 'a@example.com', 'A' FROM o RETURNING id`,
    );
    userId = user!.id;
    await tx.query(
      `INSERT INTO sessions (organization_id, user_id, holder, ipv4_address, status, expires_at)
       SELECT u.organization_id, u.id, 'job ' || n, '198.51.100.1',
         CASE WHEN n % $2 = 0 THEN 'ACTIVE' ELSE 'EXPIRED' END, now() + interval '1 hour'
       FROM users u, generate_series(1, $3::int) n WHERE u.id = $1`,
      [userId, Math.floor((ENDED + LIVE) / LIVE), ENDED + LIVE],
    );
    await tx.query('ANALYZE sessions');
  });

  const asked = (perUser: number): Promise<{ room: boolean }[]> =>
    database.autocommit.query(`SELECT limit_live_sessions('${userId}', ${perUser}, 500) AS room`);

  it('reads only live sessions, for any number of ended ones', async () => {
    const call = `SELECT limit_live_sessions('${userId}', ${PER_USER}, 500)`;
    // on one connection: the first call of each reads the catalog, too
    const [row] = await database.transaction(async (tx) => {
      await tx.query(call);
      return tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${call}`,
      );
    });
    const { Plan: plan } = row!['QUERY PLAN'][0];
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(MAX_PAGES);
  });

  it('is none when it is 0', async () => {
    expect(await asked(0)).toEqual([{ room: true }]);
  });

  it('allows an inactive user no session, with and without a limit', async () => {
    const tx = database.autocommit;
    await tx.query('UPDATE users SET is_active = false WHERE id = $1', [userId]);
    expect([...(await asked(0)), ...(await asked(PER_USER))]).toEqual([{ room: false }, { room: false }]);
    await tx.query('UPDATE users SET is_active = true WHERE id = $1', [userId]);
  });

  it('reads no further than the limit', async () => {
    await expect(asked(LIVE)).rejects.toThrow(`The user has ${LIVE} live sessions`);
    await expect(asked(3)).rejects.toThrow('The user has 3 live sessions');
  });
});
