import { randomUUID } from 'node:crypto';
import { LeaseStore, RuleStore } from '#engine-store';
import type { Tx } from '#entities';
import { ownDatabase } from '../harness/database/own-database';

const OTHER_RULES = 50_000;
/** of 8 kB: the target, two rules with their entries in every index, one holder; all rules would be a thousand */
const MAX_PAGES = 100;

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** Asks how a statement is done, with its rows, instead of for them. */
const explained = (tx: Tx, plans: Plan[]): Tx =>
  ({
    query: async (text: string, values?: unknown[]): Promise<unknown[]> => {
      const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values,
      );
      plans.push(row!['QUERY PLAN'][0].Plan);
      return [];
    },
  }) as unknown as Tx;

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
        [targetId, OTHER_RULES],
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
    const plans: Plan[] = [];
    await store.lockAlone(explained(tx, plans), ids);
    await store.save(explained(tx, plans), { rules: locked.rules });
    expect(plans).toHaveLength(2);
    for (const plan of plans)
      expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(MAX_PAGES);
  });
});
