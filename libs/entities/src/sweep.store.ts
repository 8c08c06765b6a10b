import type { Provider } from '#rules';
import type { Tx } from './database';
import { RELEASE } from './session.store';
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

  /**
   * Reports, once, what could not be taken out of the cloud in time: in the audit trail and as a health event.
   * @returns how many
   */
  async reportOverdue(tx: Tx, afterSeconds: number): Promise<number> {
    const [reported] = await tx.query<{ count: number }[]>(
      `WITH late AS (
         UPDATE resource_ips SET overdue_reported_at = now()
         WHERE status = 'REMOVING' AND overdue_reported_at IS NULL
           AND released_at <= now() - make_interval(secs => $1) RETURNING *
       ), told AS (
         SELECT late.id, late.organization_id, late.resource_id, late.resource_name, late.session_id, late.ip_address,
           (SELECT r.last_error FROM rule_holders h JOIN rules r ON r.id = h.rule_id
             WHERE h.resource_ip_id = late.id AND r.state <> 'absent' ORDER BY r.due_at LIMIT 1) AS reason
         FROM late
       ), audit AS (
         INSERT INTO audit_records (organization_id, event_type, actor_type, resource_type, resource_id, resource_name,
           result, error_message, details)
         SELECT organization_id, 'RULE_REVOCATION_OVERDUE', 'SYSTEM', 'RESOURCE', resource_id, resource_name,
           'FAILURE', reason, jsonb_build_object('sessionId', session_id, 'ipAddress', ip_address)
         FROM told
       ), health AS (
         INSERT INTO resource_health_events (organization_id, resource_id, event_type, message)
         SELECT told.organization_id, told.resource_id, 'RECONCILE_FAILED',
           format('%s is still open a minute after its end: %s', told.ip_address, coalesce(told.reason, 'not known why'))
         FROM told JOIN resources r ON r.id = told.resource_id
       )
       SELECT count(*)::int AS count FROM told`,
      [afterSeconds],
    );
    return reported!.count;
  }
}
