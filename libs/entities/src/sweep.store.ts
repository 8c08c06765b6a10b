import type { Provider } from '#rules';
import type { Tx } from './database';
import { RELEASE } from './openings';
import { HOLDING, MAY_EXPIRE } from './status-lists';

export interface DueTarget {
  readonly targetId: string;
  readonly provider: Provider;
}

/** What the one-second sweep asks, on the database's clock. Any number of workers may ask at once. */
export class SweepStore {
  /**
   * Moves sessions past their end to EXPIRING; their rules become due.
   * @returns how many, and the cloud objects their rules are in
   */
  async expireSessions(tx: Tx, limit: number): Promise<{ count: number; targetIds: string[] }> {
    const [expired] = await tx.query<{ count: number; targetIds: string[] }[]>(
      `WITH over AS (
         SELECT id FROM sessions WHERE status IN (${MAY_EXPIRE}) AND expires_at <= clock_timestamp()
         ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
       ), ended AS (
         UPDATE sessions s SET status = 'EXPIRING', ended_at = now(), ended_reason = 'EXPIRED'
         FROM over WHERE s.id = over.id RETURNING s.id
       ), ${RELEASE}
       SELECT (SELECT count(*)::int FROM ended) AS count,
         ARRAY(SELECT DISTINCT target_id FROM due) AS "targetIds"`,
      [limit],
    );
    return expired!;
  }

  /** Forgets what is out of every cloud: entries of static IP rules, deleted static IP rules, deleted resources. */
  async purge(tx: Tx): Promise<void> {
    const unsettled = `status IN (${HOLDING}, 'REMOVING')`;
    await tx.query(`DELETE FROM resource_ips WHERE static_ip_rule_id IS NOT NULL AND status = 'REMOVED'`);
    await tx.query(
      `DELETE FROM static_ip_rules rule WHERE deleted_at IS NOT NULL
         AND NOT EXISTS (SELECT FROM resource_ips WHERE static_ip_rule_id = rule.id AND ${unsettled})`,
    );
    await tx.query(
      `DELETE FROM resources r WHERE deleted_at IS NOT NULL
         AND NOT EXISTS (SELECT FROM resource_ips WHERE resource_id = r.id AND ${unsettled})`,
    );
  }

  /** Cloud objects with due rules that no worker holds, the longest overdue first. */
  dueTargets(tx: Tx, limit: number): Promise<DueTarget[]> {
    return tx.query(
      `SELECT t.id AS "targetId", t.provider FROM rules r JOIN targets t ON t.id = r.target_id
       WHERE r.due_at <= now() AND (t.lease_until IS NULL OR t.lease_until <= now())
       GROUP BY t.id ORDER BY min(r.due_at) LIMIT $1`,
      [limit],
    );
  }

  /** Cloud objects to be compared with the database that no worker holds. */
  reconcileTargets(tx: Tx, limit: number): Promise<DueTarget[]> {
    return tx.query(
      `SELECT t.id AS "targetId", t.provider FROM targets t
       WHERE t.reconcile_due_at <= now() AND (t.lease_until IS NULL OR t.lease_until <= now())
       ORDER BY t.reconcile_due_at LIMIT $1`,
      [limit],
    );
  }
}
