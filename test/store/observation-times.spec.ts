import { ComparisonStore } from '#engine-store';
import type { Tx } from '#entities';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

describe('When something was observed', () => {
  const database = ownDatabase(2);

  const clock = async (tx: Tx): Promise<Date> =>
    (await tx.query<{ at: Date }[]>('SELECT clock_timestamp() AS at'))[0]!.at;

  it('a comparison is dated by its reading, however late it is written', async () => {
    const [target] = await database.autocommit.query<{ id: string; againAt: string }[]>(
      `INSERT INTO targets (provider, key, resource_type, identifier) VALUES ('AWS', 'key', 'SECURITY_GROUP', 'sg')
       RETURNING id, reconcile_due_at::text AS "againAt"`,
    );
    const { id, againAt } = target!;
    const readingBegan = await clock(database.autocommit);
    await database.transaction(async (tx) => {
      const startedAgoMs = (await clock(tx)).getTime() - readingBegan.getTime();
      // the process stands still between its own clock and the statement
      await tx.query('SELECT pg_sleep(0.2)');
      await new ComparisonStore().finish(tx, id, { requested: false, againAt }, 'digest', startedAgoMs);
    });
    const [written] = await database.autocommit.query<{ at: Date }[]>(
      'SELECT compared_at AS at FROM targets WHERE id = $1',
      [id],
    );
    expect(written!.at.getTime()).toBeLessThan(readingBegan.getTime() + 50);
  });

  it('a target that was denied for longer is read less often, up to every ten minutes', async () => {
    const rows = new LedgerRows(database);
    const targetId = await rows.target();
    await rows.rule(targetId, [new Date(), new Date(), null, null]);
    const nextAfter = async (seconds: number): Promise<number> => {
      await database.autocommit.query(
        `UPDATE targets SET compared_at = now() - make_interval(secs => $2), reconcile_due_at = now() + interval '45 seconds'
         WHERE id = $1`,
        [targetId, seconds],
      );
      await new ComparisonStore().postpone(database.autocommit, targetId);
      const [next] = await database.autocommit.query<{ seconds: number }[]>(
        'SELECT extract(epoch FROM reconcile_due_at - now())::float8 AS seconds FROM targets WHERE id = $1',
        [targetId],
      );
      return Math.round(next!.seconds / 15) * 15;
    };
    expect([await nextAfter(10), await nextAfter(90), await nextAfter(4000)]).toEqual([45, 90, 600]);
  });
});
