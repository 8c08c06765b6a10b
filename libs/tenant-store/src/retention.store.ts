import type { OrganizationId } from '#rules';
import { FINISHED_STATUSES, type Transactions, type Tx, rows } from '#entities';

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
    const found = await tx.query<{ id: OrganizationId }[]>(
      `SELECT DISTINCT o.id FROM organizations o CROSS JOIN unnest($2::text[]) AS ended(status) CROSS JOIN LATERAL (
         SELECT FROM sessions s WHERE s.organization_id = o.id AND s.status = ended.status
           AND s.created_at < ${createdBefore('$1')} ORDER BY s.created_at LIMIT 1) old`,
      [retentionDays, FINISHED_STATUSES],
    );
    return found.map(({ id }) => id);
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

/** Expired rows are kept for a day for investigations. A payment service repeats an event for a month at most. */
const SPENT: readonly (readonly [table: string, expiredAt: string, kept: string, where?: string])[] = [
  ['refresh_tokens', 'expires_at', '1 day'],
  ['account_tokens', 'expires_at', '1 day'],
  ['mfa_challenges', 'expires_at', '1 day'],
  ['sign_in_failures', 'last_failed_at', '1 day'],
  ['known_devices', 'expires_at', '1 day'],
  ['oidc_used_tokens', 'expires_at', '1 day'],
  ['payment_events', 'created_at', '400 days'],
  ['webhook_deliveries', 'created_at', '30 days'],
  ['sso_attempts', 'expires_at', '0 days'],
  ['user_identities', 'last_seen_at', '30 days', 'user_id IS NULL'],
  ['access_requests', 'ended_at', '90 days'],
];

/**
 * Deletes expired tokens, challenges, counters, payment events, deliveries, unlinked identities and access requests of all
 * organizations. Each table has an index.
 */
export class SpentTokenStore {
  /**
   * Deletes the oldest rows first.
   * @returns how many were deleted, at most `limit`; fewer: none is left but rows locked by another transaction
   */
  async deleteSpent(tx: Tx, limit: number): Promise<number> {
    let count = 0;
    for (const [table, expiredAt, kept, where = 'true'] of SPENT) {
      if (count >= limit) break;
      const deleted = await rows(
        tx,
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${expiredAt} < now() - interval '${kept}' AND ${where}
           ORDER BY ${expiredAt} LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
        [limit - count],
      );
      count += deleted.length;
    }
    return count;
  }
}

/** An event's position in time order. Text keeps all digits of the time. */
export interface HealthEventPosition {
  readonly createdAt: string;
  readonly id: string;
}

const IS_VERIFICATION = `event_type IN ('VERIFY_OK', 'VERIFY_FAILED')`;

/**
 * Deletes the oldest health events past their retention, of every organization. The newest verification and the newest
 * reconciliation of each resource are kept regardless of age: they are its current state.
 * @param after the end of the previous batch; null: start at the oldest event
 * @param limit how many events are examined
 */
export async function deleteOldHealthEvents(
  tx: Tx,
  retentionDays: number,
  after: HealthEventPosition | null,
  limit: number,
): Promise<{ examined: number; deleted: number; last: HealthEventPosition | null }> {
  const [batch] = await tx.query<{ examined: number; deleted: number; last: HealthEventPosition | null }[]>(
    `WITH old AS (
       SELECT id, resource_id, ${IS_VERIFICATION} AS is_verification, created_at FROM resource_health_events
       WHERE (created_at, id) > ($1::timestamptz, $2::uuid) AND created_at < now() - make_interval(days => $3)
       ORDER BY created_at, id LIMIT $4
     ), deleted AS (
       DELETE FROM resource_health_events e USING old
       WHERE e.id = old.id AND EXISTS (
         SELECT FROM resource_health_events newer
         WHERE newer.resource_id = old.resource_id AND (newer.${IS_VERIFICATION}) = old.is_verification
           AND (newer.created_at, newer.id) > (old.created_at, old.id))
       RETURNING 1
     )
     SELECT (SELECT count(*)::int FROM old) AS examined, (SELECT count(*)::int FROM deleted) AS deleted,
       (SELECT jsonb_build_object('createdAt', created_at::text, 'id', id) FROM old
        ORDER BY old.created_at DESC, old.id DESC LIMIT 1) AS last`,
    [
      after?.createdAt ?? '-infinity',
      after?.id ?? '00000000-0000-0000-0000-000000000000',
      retentionDays,
      limit,
    ],
  );
  return batch!;
}
