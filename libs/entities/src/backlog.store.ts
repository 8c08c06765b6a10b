import type { Provider } from '#rules';
import type { Tx } from './database';

/** What waits to be done in the clouds of one provider. */
export interface Backlog {
  readonly provider: Provider;
  /** rules to look at now, or already tried */
  readonly dueRules: number;
  /** of those to be closed: should have been out for five seconds */
  readonly overdueRules: number;
  /** seconds since the oldest of them should have been out; 0: none is overdue */
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
      `WITH late AS (
         SELECT t.provider, h.rule_id, min(ip.released_at) AS released_at
         FROM resource_ips ip
         JOIN rule_holders h ON h.resource_ip_id = ip.id
         JOIN rules r ON r.id = h.rule_id JOIN targets t ON t.id = r.target_id
         WHERE ip.status = 'REMOVING' AND ip.released_at < now() - make_interval(secs => $1) AND r.state <> 'absent'
         GROUP BY t.provider, h.rule_id
       ), due AS (
         SELECT t.provider, count(*)::int AS count FROM rules r JOIN targets t ON t.id = r.target_id
         WHERE r.due_at IS NOT NULL GROUP BY t.provider
       )
       SELECT provider, coalesce(due.count, 0) AS "dueRules", coalesce(l.count, 0) AS "overdueRules",
         coalesce(l.oldest, 0)::float8 AS "oldestOverdueSeconds"
       FROM due FULL JOIN (
         SELECT provider, count(*)::int AS count, extract(epoch FROM now() - min(released_at)) AS oldest
         FROM late GROUP BY provider
       ) l USING (provider)`,
      [OVERDUE_AFTER_SECONDS],
    );
  }
}
