import { randomUUID } from 'node:crypto';
import { LeaseStore, RuleStore } from '#engine-store';
import type { Tx } from '#entities';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

const OTHERS = 50_000;

/** @returns how many pages of 8 kB a statement reads */
async function pagesOf(tx: Tx, statement: string, given: unknown[] = []): Promise<number> {
  const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }[]>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`,
    given,
  );
  const { Plan: plan } = row!['QUERY PLAN'][0];
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}

describe('Noting what a pass is about to write', () => {
  const database = ownDatabase(2);
  const targetId = randomUUID();

  beforeAll(async () => {
    await database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query(
        `INSERT INTO targets (id, provider, key, resource_type, identifier) VALUES ($1, 'AWS', 'key', 'SECURITY_GROUP', 'sg')`,
        [targetId],
      );
      await tx.query(
        `WITH added AS (
           INSERT INTO rules (target_id, key, address, protocol, ports, state)
           SELECT $1, n || ' tcp 22', host('10.0.0.0'::inet + n) || '/32', 'tcp', '22', 'present'
           FROM generate_series(1, $2::int) n RETURNING id
         )
         INSERT INTO rule_holders (rule_id, resource_ip_id) SELECT id, gen_random_uuid() FROM added`,
        [targetId, OTHERS],
      );
    });
    await database.autocommit.query('VACUUM ANALYZE rules, rule_holders, targets');
  });

  it('reads only what it writes, for any number of other rules on the target', async () => {
    const tx = database.autocommit;
    const lease = (await new LeaseStore().take(tx, targetId, 30, false))!;
    const rules = await tx.query<{ id: string }[]>('SELECT id FROM rules LIMIT 2');
    const ids = rules.map(({ id }) => id);
    const store = new RuleStore();
    expect(
      await new LeaseStore().noteWrite(tx, lease, { size: ids.length, isShort: false }, null),
    ).not.toBeNull();
    const locked = await store.lockAlone(tx, ids);
    const pages: number[] = [];
    const counting = {
      query: async (text: string, values: unknown[]): Promise<unknown[]> => {
        pages.push(await pagesOf(tx, text, values));
        return [];
      },
    } as unknown as Tx;
    await store.lockAlone(counting, ids);
    await store.save(counting, { rules: locked.rules });
    expect(pages).toHaveLength(2);
    // the target, two rules with their entries in every index, one holder; all rules would be a thousand
    expect(Math.max(...pages)).toBeLessThan(100);
  });
});

describe('The limit of live sessions', () => {
  const [LIVE, PER_USER] = [49, 50];
  const database = ownDatabase(2);
  let userId: string;

  beforeAll(async () => {
    const tx = database.autocommit;
    ({ userId } = await new LedgerRows(database).organization());
    await tx.query(
      `INSERT INTO sessions (organization_id, user_id, holder, ipv4_address, status, expires_at)
       SELECT u.organization_id, u.id, 'job ' || n, '198.51.100.1',
         CASE WHEN n % $2 = 0 THEN 'ACTIVE' ELSE 'EXPIRED' END, now() + interval '1 hour'
       FROM users u, generate_series(1, $3::int) n WHERE u.id = $1`,
      [userId, Math.floor((OTHERS + LIVE) / LIVE), OTHERS + LIVE],
    );
    await tx.query('ANALYZE sessions');
  });

  const asked = (perUser: number): Promise<{ room: boolean }[]> =>
    database.autocommit.query(`SELECT limit_live_sessions('${userId}', ${perUser}, 500) AS room`);

  it('reads only live sessions, for any number of ended ones', async () => {
    const call = `SELECT limit_live_sessions('${userId}', ${PER_USER}, 500)`;
    // on one connection: the first call of each reads the catalog, too
    const pages = await database.transaction(async (tx) => {
      await tx.query(call);
      return pagesOf(tx, call);
    });
    // the live sessions, the way to them in two indexes, and the user's row
    expect(pages).toBeLessThan(150);
  });

  it('is none when it is 0', async () => {
    expect(await asked(0)).toEqual([{ room: true }]);
  });

  it('reads no further than the limit', async () => {
    await expect(asked(LIVE)).rejects.toThrow(`The user has ${LIVE} live sessions`);
    await expect(asked(3)).rejects.toThrow('The user has 3 live sessions');
  });
});
