import { DETACHING_CAUSES, type Access, type RuleSettlement } from '#rules';
import { HOLDING, type Tx } from '#entities';
import { byKey } from './by-key';
import type { HolderRow } from './due-rule';
import { releaseClaims } from './holders';
import type { Affected, AffectedHolder, IpMove, RuleEnd } from './settlement';
import type { Lease } from './lease.store';
import { lockOwners } from './lock-owners';

const DETACHED = DETACHING_CAUSES.map((cause) => `'${cause}'`).join(', ');

/** For `WHERE`: the ResourceIp waits for this pass ($2) and has been PENDING since before it began ($3). */
const WAITS = (ip: string): string =>
  `(${ip}.id, ${ip}.pending_since) IN (SELECT id, since FROM unnest($2::uuid[], $3::timestamptz[]) AS waiting (id, since))`;

/** Reads and writes of a settlement on rules and ResourceIps. Decisions are made by the engine's `settle`. */
export class SettlementStore {
  /** Locks the sessions and static IP rules whose ResourceIps may change status, before any rule is written. */
  async lockOwners(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await lockOwners(
      tx,
      `rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
       WHERE holder.rule_id = ANY ($1::uuid[]) AND ip.status IN ('PENDING', 'REMOVING')`,
      [ruleIds],
    );
  }

  /** Aligns the retries of the target's other rules with these, so that one read serves all of them. */
  async alignRetries(tx: Tx, { targetId }: Lease, rules: readonly RuleSettlement[]): Promise<void> {
    await tx.query(
      `UPDATE rules SET due_at = now() + make_interval(secs => $3 / 1000.0)
       WHERE id IN (
         SELECT id FROM rules
         WHERE target_id = $1 AND id <> ALL ($2::uuid[]) AND attempts > 0 AND due_at > now() AND NOT is_suspended
         FOR NO KEY UPDATE SKIP LOCKED)`,
      [targetId, rules.map((rule) => rule.ruleId), Math.max(...rules.map((rule) => rule.dueInMs ?? 0))],
    );
  }

  /**
   * The ResourceIps whose status may change: those being removed, and those that wait for this pass through their own
   * access path.
   * @param access of the pass; null: any
   * @param giveUpSeconds ResourceIps PENDING for longer are given up if a rule of theirs is missing
   */
  async affected(
    tx: Tx,
    ruleIds: readonly string[],
    waiting: readonly Pick<HolderRow, 'resourceIpId' | 'pendingSince'>[],
    access: Access | null,
    giveUpSeconds: number,
  ): Promise<Affected> {
    const [found] = await tx.query<Affected[]>(
      `WITH touched AS MATERIALIZED (
         SELECT ip.* FROM (SELECT DISTINCT resource_ip_id FROM rule_holders WHERE rule_id = ANY ($1::uuid[]) OFFSET 0) h
         CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
         WHERE ip.status = 'REMOVING' OR (ip.status = 'PENDING' AND ${WAITS('ip')} AND ($4::uuid IS NULL OR EXISTS (
           SELECT FROM resources own WHERE own.id = ip.resource_id
             AND own.credential_id = $4 AND own.region IS NOT DISTINCT FROM $5::text)))
       ), held AS MATERIALIZED (
         SELECT DISTINCT rule_id FROM touched JOIN rule_holders h ON h.resource_ip_id = touched.id
         UNION SELECT h.rule_id FROM rule_holders h
           WHERE h.rule_id = ANY ($1::uuid[]) AND h.release_cause IN (${DETACHED})
       ), holder AS MATERIALIZED (
         SELECT h.rule_id AS "ruleId", ip.id AS "resourceIpId", ip.status, ip.organization_id AS "organizationId",
           coalesce(res.write_verified, false) AS "writeVerified",
           coalesce(h.release_cause IN (${DETACHED}), false) AS "isDetached",
           h.released_at IS NULL AND ip.status IN (${HOLDING}) AS "isLive", ip.status = 'PENDING' AND ${WAITS('ip')} AS waits
         FROM held JOIN rule_holders h ON h.rule_id = held.rule_id
         CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
         LEFT JOIN resources res ON res.id = ip.resource_id
       )
       SELECT
         ARRAY(SELECT jsonb_build_object('id', id, 'organizationId', organization_id, 'sessionId', session_id,
           'staticIpRuleId', static_ip_rule_id, 'status', status, 'givenUp', given_up, 'errorMessage', error_message,
           'timedOut', pending_since < now() - make_interval(secs => $6)) FROM touched ORDER BY id) AS ips,
         ARRAY(SELECT to_jsonb(holder) FROM holder) AS holders,
         ARRAY(SELECT jsonb_build_object('ruleId', r.id, 'key', r.key, 'isUnmanaged', r.is_unmanaged,
             'state', CASE WHEN r.state = 'present' AND r.due_at IS NOT NULL AND NOT r.id = ANY ($1::uuid[])
               THEN 'unknown' ELSE r.state END,
             'writerOrganizationId', (SELECT organization_id FROM credentials WHERE id = r.credential_id),
             'providerRuleId', r.provider_rule_id, 'lastError', r.last_error)
           FROM held CROSS JOIN LATERAL ${byKey('rules', 'held.rule_id')} r ORDER BY r.key) AS rules`,
      [
        ruleIds,
        waiting.map(({ resourceIpId }) => resourceIpId),
        waiting.map(({ pendingSince }) => pendingSince),
        access?.credentialId ?? null,
        access?.region ?? null,
        giveUpSeconds,
      ],
    );
    return found!;
  }

  /**
   * Writes on the ResourceIps of ended rules how they ended; the first of a ResourceIp's rules counts. What still allows an
   * address is shown to those only whose own credential has read the target.
   */
  async noteEnds(tx: Tx, ends: readonly RuleEnd[]): Promise<void> {
    await tx.query(
      `UPDATE resource_ips ip SET given_up = coalesce(ip.given_up, e.given_up),
         still_allowed_by = coalesce(ip.still_allowed_by,
           CASE WHEN ip.status = 'REMOVING' AND ip.applied_at IS NOT NULL THEN e.still_allowed_by END)
       FROM (
         SELECT h.resource_ip_id, min(e."givenUp") AS given_up,
           string_agg(DISTINCT e."stillAllowedBy", ', ') AS still_allowed_by
         FROM jsonb_to_recordset($1::jsonb) AS e("ruleId" uuid, "givenUp" text, "stillAllowedBy" text)
         JOIN rule_holders h ON h.rule_id = e."ruleId" AND h.released_at IS NOT NULL
         GROUP BY h.resource_ip_id
       ) e
       WHERE ip.id = e.resource_ip_id AND ip.status IN (${HOLDING}, 'REMOVING')`,
      [JSON.stringify(ends)],
    );
  }

  /**
   * Lists unmanaged rules through which holders had access that have ended: the access goes on without them. The target's
   * digest is cleared, so that the next comparison looks at the list.
   */
  async listUnmanaged(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `WITH listed AS (
         INSERT INTO unmanaged_rules (target_id, key, provider_rule_id, possible_since, present_since)
         SELECT r.target_id, r.key, r.provider_rule_id, least(t.compared_at, r.possible_since), r.present_since
         FROM rules r JOIN targets t ON t.id = r.target_id
         WHERE r.id = ANY ($1::uuid[]) AND r.present_since IS NOT NULL AND r.provider_rule_id IS NOT NULL
           AND NOT EXISTS (SELECT FROM unmanaged_rules u WHERE u.target_id = r.target_id AND u.key = r.key)
         RETURNING target_id
       )
       UPDATE targets SET unmanaged_digest = NULL WHERE id IN (SELECT target_id FROM listed)`,
      [ruleIds],
    );
  }

  /** @returns for each removed ResourceIp: seconds since it was released */
  async moveIps(tx: Tx, moves: readonly IpMove[]): Promise<number[]> {
    const [written] = await tx.query<{ latenessSeconds: number[] }[]>(
      `WITH moved AS (
         UPDATE resource_ips ip SET status = m."to", error_message = m."errorMessage",
           wrong_family = ip.wrong_family OR m."isWrongFamily",
           given_up = CASE WHEN m."to" <> 'APPLIED' THEN ip.given_up END,
           provider_rule_id = CASE WHEN m."to" = 'APPLIED' THEN m."providerRuleId" ELSE ip.provider_rule_id END,
           applied_at = CASE WHEN m."to" = 'APPLIED' THEN now() ELSE ip.applied_at END,
           removed_at = CASE WHEN m."to" = 'REMOVED' THEN now() ELSE ip.removed_at END
         FROM jsonb_to_recordset($1::jsonb)
           AS m(id uuid, "from" text, "to" text, "errorMessage" text, "providerRuleId" text, "isWrongFamily" boolean)
         WHERE ip.id = m.id AND ip.status = m."from" RETURNING ip.status, ip.released_at
       )
       SELECT ARRAY(SELECT extract(epoch FROM clock_timestamp() - released_at)::float8 FROM moved
         WHERE status = 'REMOVED' AND released_at IS NOT NULL) AS "latenessSeconds"`,
      [JSON.stringify(moves)],
    );
    return written!.latenessSeconds;
  }

  /** Releases the rules of refused ResourceIps: those that exist nevertheless become unwanted. */
  async releaseRefused(tx: Tx, resourceIpIds: readonly string[]): Promise<void> {
    await releaseClaims(
      tx,
      'ADD_REFUSED',
      `SELECT h.rule_id, h.resource_ip_id FROM rule_holders h WHERE h.resource_ip_id = ANY ($2::uuid[])`,
      [resourceIpIds],
    );
  }

  /**
   * Returns the holders of rules that are absent, or about to be, to PENDING: each waits through its own access path.
   * Writes nothing once the lease is lost.
   */
  async returnToPending(tx: Tx, lease: Lease, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE resource_ips SET status = 'PENDING', pending_since = now(), applied_at = NULL, provider_rule_id = NULL
       WHERE status = 'APPLIED' AND id IN (
         SELECT resource_ip_id FROM rule_holders WHERE rule_id = ANY ($1::uuid[]) AND released_at IS NULL)
         AND EXISTS (SELECT FROM targets WHERE id = $2 AND lease_generation = $3 AND lease_until > now())`,
      [ruleIds, lease.targetId, lease.generation],
    );
  }

  /** Copies the current provider ids of these rules to their ResourceIps, which sessions and static IP rules show. */
  async renameIps(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE resource_ips ip SET provider_rule_id = named.ids
       FROM (
         SELECT h.resource_ip_id, string_agg(r.provider_rule_id, ',' ORDER BY r.key) AS ids
         FROM rule_holders h JOIN rules r ON r.id = h.rule_id
         WHERE h.released_at IS NULL AND h.resource_ip_id IN (
           SELECT resource_ip_id FROM rule_holders WHERE rule_id = ANY ($1::uuid[]))
         GROUP BY h.resource_ip_id
       ) named
       WHERE ip.id = named.resource_ip_id AND ip.status = 'APPLIED' AND ip.provider_rule_id IS DISTINCT FROM named.ids`,
      [ruleIds],
    );
  }

  /** Writes a message on the ResourceIps of rules; their statuses do not change. */
  async noteOnIps(
    tx: Tx,
    notes: readonly { readonly ruleId: string; readonly message: string }[],
  ): Promise<void> {
    await tx.query(
      `UPDATE resource_ips ip SET error_message = n.message
       FROM jsonb_to_recordset($1::jsonb) AS n("ruleId" uuid, message text)
       JOIN rule_holders h ON h.rule_id = n."ruleId"
       WHERE ip.id = h.resource_ip_id AND ip.status IN (${HOLDING}, 'REMOVING')`,
      [JSON.stringify(notes)],
    );
  }

  /**
   * Deletes holders that have ended.
   * @param ended ResourceIps that are REMOVED or FAILED
   * @param superseded holders that have ended, of rules that others hold
   * @param absent rules that were observed absent: their released holders end
   */
  async deleteHolders(
    tx: Tx,
    ended: readonly string[],
    superseded: readonly Pick<AffectedHolder, 'ruleId' | 'resourceIpId'>[],
    absent: readonly string[],
  ): Promise<void> {
    await tx.query(
      `DELETE FROM rule_holders h USING rules r WHERE r.id = h.rule_id AND (
         (h.resource_ip_id = ANY ($1::uuid[]) AND (h.release_cause IS DISTINCT FROM 'ADD_REFUSED' OR r.state = 'absent')
           AND NOT coalesce(h.release_cause IN (${DETACHED}), false))
         OR (h.rule_id = ANY ($2::uuid[]) AND h.released_at IS NOT NULL)
         OR (h.rule_id, h.resource_ip_id) IN (SELECT * FROM unnest($3::uuid[], $4::uuid[])))`,
      [
        ended,
        absent,
        superseded.map(({ ruleId }) => ruleId),
        superseded.map(({ resourceIpId }) => resourceIpId),
      ],
    );
  }
}
