import type { Access } from '#rules';
import { HOLDING, type Tx } from '#entities';
import { byKey } from './by-key';
import { toDueRule, type DueRuleRow, type RawDueRow } from './due-rule';
import type { Lease } from './lease.store';

/** A recorded intent to call the provider. */
export interface Intent {
  /** until then an earlier in-doubt write of the target's whole list may take effect */
  readonly inDoubtUntil: Date | null;
  /** rules that may be sent, without additions that are no longer desired */
  readonly ruleIds: readonly string[];
}

/** Upper bound on the next comparison of a target after a write. */
const COMPARE_AFTER_WRITE = '45 seconds';

/** Longest wait for a call; a longer one was recorded before the database clock was set back. */
const MAX_IN_FLIGHT = '10 minutes';

/** What convergence reads and marks. Serves all organizations: several may share a target. */
export class ConvergenceStore {
  /** Due rules of the target, unwanted ones first. */
  async due(tx: Tx, lease: Lease, limit: number): Promise<DueRuleRow[]> {
    const rows = await tx.query<RawDueRow[]>(
      `SELECT r.id AS "ruleId", r.key, r.address, r.protocol, r.ports, r.state, r.is_unmanaged AS "isUnmanaged",
         r.revision, r.attempts, r.cause, r.last_error AS "lastError", r.is_missing AS "isMissing",
         r.unwanted_since IS NOT NULL AS "isUnwanted", r.is_unmarked AS "isUnmarked",
         extract(epoch FROM greatest(
           CASE WHEN r.in_flight_until <= now() + interval '${MAX_IN_FLIGHT}' THEN r.in_flight_until
             WHEN r.in_flight_until IS NOT NULL THEN now() END,
           CASE WHEN t.in_flight_until BETWEEN now() AND now() + interval '${MAX_IN_FLIGHT}' THEN t.in_flight_until END)
           - now())::float8 * 1000 AS "inFlightMs",
         extract(epoch FROM now() - r.target_missing_since)::float8 * 1000 AS "targetMissingMs",
         r.credential_id AS "credentialId", r.region,
         (SELECT organization_id FROM credentials WHERE id = r.credential_id) AS "writerOrganizationId",
         r.provider_rule_id AS "providerRuleId",
         ARRAY(
           SELECT jsonb_build_object('resourceIpId', ip.id, 'status', CASE WHEN h.released_at IS NULL THEN ip.status ELSE 'REMOVING' END,
             'pendingSince', ip.pending_since::text, 'cause', h.cause,
             'expired', coalesce(least(s.expires_at, s.lease_until) <= now(), false),
             'expiresAt', extract(epoch FROM s.expires_at)::bigint,
             'config', res.config, 'writeVerified', res.write_verified,
             'abandoned', CASE WHEN res.abandoned_at IS NOT NULL THEN coalesce(res.abandon_reason, '') END,
             'access', jsonb_build_object('credentialId', res.credential_id, 'region', res.region,
               'organizationId', res.organization_id))
           FROM rule_holders h
           CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
           LEFT JOIN sessions s ON s.id = ip.session_id
           JOIN resources res ON res.id = ip.resource_id
           WHERE h.rule_id = r.id AND ip.status IN (${HOLDING}, 'REMOVING')
         ) AS holders
       FROM rules r JOIN targets t ON t.id = r.target_id
       WHERE r.target_id = $1 AND r.due_at <= now()
       ORDER BY EXISTS (
         SELECT FROM rule_holders h
         CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
         WHERE h.rule_id = r.id AND h.released_at IS NULL AND ip.status IN (${HOLDING})
       ), r.due_at, r.id
       LIMIT $2`,
      [lease.targetId, limit],
    );
    return rows.map(toDueRule);
  }

  /** Every rule of the target whose recorded state is present or unknown. */
  possiblyPresent(
    tx: Tx,
    lease: Lease,
  ): Promise<Pick<DueRuleRow, 'ruleId' | 'key' | 'state' | 'isUnmanaged'>[]> {
    return tx.query(
      `SELECT id AS "ruleId", key, state, is_unmanaged AS "isUnmanaged" FROM rules WHERE target_id = $1 AND state <> 'absent'`,
      [lease.targetId],
    );
  }

  /**
   * Records the changes before the provider is called, so that a crash leaves them in doubt instead of unknown to us. An
   * added rule was just observed absent: its certain interval starts again.
   * @param changes `promptWrites`: writes that are possible at once after this one; `wholeList`: the provider replaces the target's whole list, so a call without an answer puts every rule
   *   of the target in doubt
   * @param horizonSeconds how long after its intent a change may still take effect
   * @returns null when the lease is lost: nothing may be sent
   */
  async recordIntent(
    tx: Tx,
    lease: Lease,
    changes: {
      additions: readonly string[];
      removals: readonly string[];
      access: Access;
      wholeList: boolean;
      promptWrites: number;
    },
    horizonSeconds: number,
  ): Promise<Intent | null> {
    const [marked] = await tx.query<Intent[]>(
      `WITH fence AS (
           UPDATE targets t SET last_write_at = now(),
             reconcile_due_at = least(reconcile_due_at, now() + interval '${COMPARE_AFTER_WRITE}'),
             last_write_size = cardinality($3::uuid[]) + cardinality($4::uuid[]), prompt_writes = $9,
             in_flight_until = CASE WHEN $8 THEN now() + make_interval(secs => $7) END
           FROM (SELECT id, in_flight_until FROM targets WHERE id = $1) old
           WHERE t.id = old.id AND lease_generation = $2 AND lease_until > now() RETURNING old.in_flight_until AS inDoubt
         ), noted AS (
         -- an earlier settlement of the same round may have released the holders of an addition
         UPDATE rules SET state = 'unknown',
           in_flight_until = now() + make_interval(secs => $7),
           is_unmanaged = is_unmanaged AND NOT id = ANY ($3::uuid[]),
           provider_rule_id = CASE WHEN NOT is_unmanaged OR NOT id = ANY ($3::uuid[]) THEN provider_rule_id END,
           credential_id = CASE WHEN id = ANY ($3::uuid[]) THEN $5 ELSE credential_id END,
           region = CASE WHEN id = ANY ($3::uuid[]) THEN $6 ELSE region END,
           possible_since = CASE WHEN id = ANY ($3::uuid[]) THEN coalesce(possible_since, now()) ELSE possible_since END,
           present_since = CASE WHEN NOT id = ANY ($3::uuid[]) THEN present_since END,
           observed_at = CASE WHEN NOT id = ANY ($3::uuid[]) THEN observed_at END,
           removal_sent_at = CASE WHEN id = ANY ($4::uuid[]) THEN coalesce(removal_sent_at, now())
             WHEN state = 'absent' THEN NULL ELSE removal_sent_at END
         FROM fence
         WHERE id = ANY ($4::uuid[]) OR (id = ANY ($3::uuid[])
           AND EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = rules.id AND h.released_at IS NULL))
         RETURNING id)
         SELECT fence.inDoubt AS "inDoubtUntil", ARRAY(SELECT id FROM noted) AS "ruleIds" FROM fence`,
      [
        lease.targetId,
        lease.generation,
        changes.additions,
        changes.removals,
        changes.access.credentialId,
        changes.access.region,
        horizonSeconds,
        changes.wholeList,
        changes.promptWrites,
      ],
    );
    return marked ?? null;
  }

  /** The write of a whole list was answered: only an earlier in-doubt write may still take effect. */
  async confirmWrite(tx: Tx, lease: Lease, { inDoubtUntil }: Intent): Promise<void> {
    await tx.query('UPDATE targets SET in_flight_until = $3 WHERE id = $1 AND lease_generation = $2', [
      lease.targetId,
      lease.generation,
      inDoubtUntil,
    ]);
  }
}
