import type { OrganizationId } from '#rules';
import { FINISHED_STATUSES, type Transactions, type Tx } from '#entities';

/** A session's position in the order of time. Text keeps all digits of the time. */
interface SessionPosition {
  readonly createdAt: string;
  readonly id: string;
}

interface Batch {
  readonly examined: number;
  readonly deleted: number;
  readonly last: SessionPosition | null;
}

const BEGINNING: SessionPosition = { createdAt: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

/** SQL: a session lasts a day at most, so sessions created before this time are over, but for a few. */
const createdBefore = (days: string): string => `now() - make_interval(days => ${days} + 1)`;

/** Deletes ended sessions, with their addresses, of one organization after the other. What was open, when and for whom stays in the audit trail and the ledger. */
export class SessionRetentionStore {
  /** The organizations with sessions to delete. Reads an entry of an index for each status, which the order makes the plan use. */
  async organizations(tx: Tx, retentionDays: number): Promise<OrganizationId[]> {
    const rows = await tx.query<{ id: OrganizationId }[]>(
      `SELECT DISTINCT o.id FROM organizations o CROSS JOIN unnest($2::text[]) AS ended(status) CROSS JOIN LATERAL (
         SELECT FROM sessions s WHERE s.organization_id = o.id AND s.status = ended.status
           AND s.created_at < ${createdBefore('$1')} ORDER BY s.created_at LIMIT 1) old`,
      [retentionDays, FINISHED_STATUSES],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Deletes an organization's sessions that ended before the retention period, oldest first of each status (as their index),
   * a transaction for each batch. Kept are sessions that may hold an open rule, and those whose denied actions are in the audit trail: their owner sees
   * them in the list of own records.
   * @returns how many
   */
  async deleteOld(
    database: Pick<Transactions, 'autocommit'>,
    organization: OrganizationId,
    retentionDays: number,
    batchSize: number,
    stopping?: AbortSignal,
  ): Promise<number> {
    let deleted = 0;
    for (const status of FINISHED_STATUSES) {
      for (let after: SessionPosition | null = BEGINNING; after;) {
        if (stopping?.aborted) return deleted;
        const given: readonly unknown[] = [
          organization,
          after.createdAt,
          after.id,
          retentionDays,
          batchSize,
          status,
        ];
        const [batch]: [Batch] = await database.autocommit.query(DELETE_BATCH, [...given]);
        deleted += batch.deleted;
        after = batch.examined < batchSize ? null : batch.last;
      }
    }
    return deleted;
  }
}

/** A trigger refuses to delete a session that may hold an open rule; here such sessions are passed over. */
const DELETE_BATCH = `WITH old AS (
    SELECT s.id, s.created_at FROM sessions s
    WHERE s.organization_id = $1 AND s.status = $6 AND (s.created_at, s.id) > ($2::timestamptz, $3::uuid)
      AND s.created_at < ${createdBefore('$4')}
    ORDER BY s.created_at, s.id LIMIT $5
  ), denied AS MATERIALIZED (
    -- few, and in an index of their own; a look-up for each session would go through every later month
    SELECT a.resource_id FROM audit_records a
    WHERE a.organization_id = $1 AND a.result = 'FAILURE' AND a.actor_type <> 'SYSTEM'
      AND a.timestamp >= (SELECT min(created_at) FROM old) AND a.resource_id IS NOT NULL
  ), ended AS (
    SELECT s.id FROM old JOIN sessions s USING (id)
    WHERE coalesce(s.ended_at, s.expires_at) < now() - make_interval(days => $4)
      AND NOT EXISTS (
        SELECT FROM resource_ips ip WHERE ip.session_id = s.id AND (ip.status NOT IN ('REMOVED', 'FAILED')
          OR EXISTS (SELECT FROM rule_holders h WHERE h.resource_ip_id = ip.id)))
      AND s.id NOT IN (SELECT resource_id FROM denied)
    FOR UPDATE OF s SKIP LOCKED
  ), deleted AS (
    DELETE FROM sessions s USING ended WHERE s.id = ended.id RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM old) AS examined, (SELECT count(*)::int FROM deleted) AS deleted,
    (SELECT jsonb_build_object('createdAt', created_at::text, 'id', id) FROM old
     ORDER BY old.created_at DESC, old.id DESC LIMIT 1) AS last`;
