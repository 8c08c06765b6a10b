import type { Provider } from '#rules';
import type { Tx } from '#entities';

/** Pending work on the targets of one provider. */
export interface Backlog {
  readonly provider: Provider;
  /** rules that are due or in backoff */
  readonly dueRules: number;
  /** rules unwanted for five seconds and not observed absent, with or without a holder */
  readonly overdueRules: number;
  /** seconds since the oldest of them became unwanted; 0: none */
  readonly oldestOverdueSeconds: number;
}

const OVERDUE_AFTER_SECONDS = 5;

/** Metrics for operators. Serves all organizations. */
export class BacklogStore {
  /** Providers of all targets that a resource ever pointed at. */
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
