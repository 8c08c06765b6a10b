import type { SlotUse } from '#rules';
import type { Tx } from './database';
import { RELEASE } from './openings';
import { HOLDING, MAY_EXPIRE } from './status-lists';

/**
 * A query for cloud objects with something to do, each with its place among those of the same organizations. What is in
 * backoff is not looked at: it is not in the part of the index that is read.
 * @param rules which rules, of `r`
 * @param targets which cloud objects, of `t`
 */
const waiting = (rules: string, targets: string): string => `WITH due AS (
    SELECT r.target_id, min(r.due_at) AS since, bool_or(r.closing) AS closing, bool_and(r.attempts > 0) AS patient
    FROM rules r WHERE r.due_at <= now() AND ${rules} GROUP BY r.target_id
  ), work AS (
    SELECT * FROM due UNION ALL
    SELECT t.id, t.reconcile_due_at, false, true FROM targets t
    WHERE t.reconcile_due_at <= now() AND ${targets} AND NOT EXISTS (SELECT FROM due WHERE due.target_id = t.id)
  ), placed AS (
    SELECT t.id, t.provider, named.organizations, w.closing, w.patient, w.since,
      row_number() OVER (PARTITION BY named.organizations ORDER BY w.closing DESC, w.patient, w.since) AS place
    FROM work w JOIN targets t ON t.id = w.target_id AND (t.lease_until IS NULL OR t.lease_until <= now())
    CROSS JOIN LATERAL (SELECT ARRAY(
      SELECT DISTINCT organization_id FROM resources WHERE target_id = t.id ORDER BY 1) AS organizations) named
  )
  SELECT id AS "targetId", provider, organizations, closing, patient FROM placed`;

const IN_TURN = 'ORDER BY place, closing DESC, patient, since';

/** What the sweep asks, on the database's clock. Any number of workers may ask at once. */
export class SweepStore {
  /**
   * Moves sessions past their end to EXPIRING; their rules become due.
   * @returns how many
   */
  async expireSessions(tx: Tx, limit: number): Promise<number> {
    const [expired] = await tx.query<{ count: number }[]>(
      `WITH over AS (
         SELECT id FROM sessions WHERE status IN (${MAY_EXPIRE}) AND expires_at <= now()
         ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
       ), ended AS (
         UPDATE sessions s SET status = 'EXPIRING', ended_at = now(), ended_reason = 'EXPIRED'
         FROM over WHERE s.id = over.id RETURNING s.id
       ), ${RELEASE}
       SELECT count(*)::int AS count FROM ended`,
      [limit],
    );
    return expired!.count;
  }

  /** Milliseconds until the next session is over, 0 when one is; null: none has an end ahead. */
  async untilNextEnd(tx: Tx): Promise<number | null> {
    const [next] = await tx.query<{ ms: number | null }[]>(
      `SELECT extract(epoch FROM min(expires_at) - now())::float8 * 1000 AS ms
       FROM sessions WHERE status IN (${MAY_EXPIRE})`,
    );
    return next!.ms === null ? null : Math.max(0, next!.ms);
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

  /**
   * Cloud objects that wait for a slot, none of them in a worker's hands: of each organization those it needs most, the
   * first of all organizations before the second of any. So no backlog, however long, hides anybody else's work.
   * @param perOrganization how many of one organization
   */
  waitingTargets(tx: Tx, perOrganization: number, limit: number): Promise<SlotUse[]> {
    return tx.query(`${waiting('true', 'true')} WHERE place <= $1 ${IN_TURN} LIMIT $2`, [
      perOrganization,
      limit,
    ]);
  }

  /** One cloud object, when something is due in it and no worker has it. */
  async waitingTarget(tx: Tx, targetId: string): Promise<SlotUse | null> {
    const [found] = await tx.query<SlotUse[]>(waiting('r.target_id = $1', 't.id = $1'), [targetId]);
    return found ?? null;
  }
}
