import type { Provider } from '#rules';
import type { Tx } from '#entities';

/** What waits to be done on the targets of one provider. */
export interface Backlog {
  readonly provider: Provider;
  /** rules that are due now, or were tried already */
  readonly dueRules: number;
  /** rules that are unwanted for five seconds and not observed absent, with or without a holder */
  readonly overdueRules: number;
  /** seconds since the oldest of them has been unwanted; 0: none is overdue */
  readonly oldestOverdueSeconds: number;
}

const OVERDUE_AFTER_SECONDS = 5;

/** For operators: serves all organizations. */
export class BacklogStore {
  /** Of those that were ever named by a resource. */
  async providersInUse(tx: Tx): Promise<Provider[]> {
    const rows = await tx.query<{ provider: Provider }[]>('SELECT DISTINCT provider FROM targets');
    return rows.map(({ provider }) => provider);
  }

  byProvider(tx: Tx): Promise<Backlog[]> {
    return tx.query(
      `WITH overdue AS (
         SELECT t.provider, count(*)::int AS count, extract(epoch FROM now() - min(r.unwanted_since)) AS oldest
         FROM rules r JOIN targets t ON t.id = r.target_id
         WHERE r.unwanted_since < now() - make_interval(secs => $1) AND r.state <> 'absent'
         GROUP BY t.provider
       ), due AS (
         SELECT t.provider, count(*)::int AS count FROM rules r JOIN targets t ON t.id = r.target_id
         WHERE r.due_at IS NOT NULL GROUP BY t.provider
       )
       SELECT provider, coalesce(due.count, 0) AS "dueRules", coalesce(overdue.count, 0) AS "overdueRules",
         coalesce(overdue.oldest, 0)::float8 AS "oldestOverdueSeconds"
       FROM due FULL JOIN overdue USING (provider)`,
      [OVERDUE_AFTER_SECONDS],
    );
  }
}
