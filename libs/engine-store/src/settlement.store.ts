import { DETACHING_CAUSES } from '#rules';
import { HOLDING, returned, type Tx } from '#entities';
import { byKey } from './by-key';
import type { Access, HolderRow } from './due-rule';
import { releaseClaims } from './holders';
import type {
  Affected,
  AffectedHolder,
  IpMove,
  Reading,
  RuleEnd,
  RuleSettlement,
  WrittenRule,
} from './settlement';
import type { Lease } from './lease.store';
import { LAST_SEEN } from './ledger.store';
import { lockOwners } from './lock-owners';

const DETACHED = DETACHING_CAUSES.map((cause) => `'${cause}'`).join(', ');

/** For `WHERE`: the ResourceIp waits for this pass ($2) and has been PENDING since before it began ($3). */
const WAITS = (ip: string): string =>
  `(${ip}.id, ${ip}.pending_since) IN (SELECT id, since FROM unnest($2::uuid[], $3::timestamptz[]) AS waiting (id, since))`;

/** For `SET`: the rule was observed present by a read that began $2 ms and ended $3 ms ago. */
const OBSERVED_PRESENT = `s."observedPresent" AND $2::float8 IS NOT NULL`;
/** A read that began after the removal may be stale: it makes nothing certain. */
const IS_REMOVAL_IN_FLIGHT = `r.removal_sent_at IS NOT NULL AND s."inFlight"`;
/** The time this many ms before the transaction began. @param parameter placeholder */
const ago = (parameter: string): string => `(now() - make_interval(secs => ${parameter}::float8 / 1000))`;

/**
 * Start of the read. The transaction begins before the age is computed, so a delayed statement never makes an observation
 * look newer than it is.
 */
const STARTED = ago('$2');
const ENDED = `make_interval(secs => $3::float8 / 1000)`;

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

  /** @param reading null: the target was not read */
  async writeRules(
    tx: Tx,
    rules: readonly RuleSettlement[],
    reading: Reading | null,
  ): Promise<WrittenRule[]> {
    if (rules.length === 0) return [];
    return returned<WrittenRule>(
      await tx.query(
        `UPDATE rules r SET state = coalesce(s.state, r.state), is_unmanaged = coalesce(s."isUnmanaged", r.is_unmanaged),
           is_unmarked = coalesce(s."isUnmarked", r.is_unmarked),
           provider_rule_id = coalesce(s."providerRuleId", r.provider_rule_id),
           attempts = CASE WHEN r.revision = s.revision THEN s.attempts ELSE 0 END,
           due_at = CASE WHEN r.revision <> s.revision THEN r.due_at
             ELSE now() + make_interval(secs => s."dueInMs" / 1000.0) END,
           in_flight_until = CASE WHEN s."inFlight" THEN r.in_flight_until END,
           last_error = s.message,
           target_missing_since = CASE WHEN s."targetMissing" IS NULL THEN r.target_missing_since
             WHEN s."targetMissing" THEN coalesce(r.target_missing_since, now()) END,
           region = CASE WHEN s.adopt IS NOT NULL AND r.revision = s.revision THEN s.adopt->>'region' ELSE r.region END,
           credential_id = CASE WHEN s.adopt IS NOT NULL AND r.revision = s.revision
             THEN (s.adopt->>'credentialId')::uuid ELSE r.credential_id END,
           unwanted_since = CASE WHEN r.revision <> s.revision THEN r.unwanted_since
             WHEN s.unwanted IS NOT NULL THEN coalesce(r.unwanted_since, now()) END,
           cause = CASE WHEN r.revision <> s.revision THEN r.cause
             WHEN s.unwanted IS NOT NULL THEN coalesce(r.cause, s.unwanted) END,
           overdue_at = CASE WHEN r.revision = s.revision AND s.unwanted IS NULL THEN NULL ELSE r.overdue_at END,
           possible_since = CASE WHEN ${OBSERVED_PRESENT} THEN coalesce(r.possible_since, ${STARTED}) ELSE r.possible_since END,
           present_since = CASE WHEN NOT (${OBSERVED_PRESENT}) THEN r.present_since
             WHEN (r.removal_sent_at IS NOT NULL AND NOT s."inFlight") OR r.provider_rule_id <> s."providerRuleId"
               THEN statement_timestamp() - ${ENDED}
             ELSE coalesce(r.present_since, statement_timestamp() - ${ENDED}) END,
           observed_at = CASE WHEN ${OBSERVED_PRESENT} AND NOT (${IS_REMOVAL_IN_FLIGHT}) THEN ${STARTED}
             WHEN s."presentAtStart" AND r.present_since IS NOT NULL AND $5::float8 IS NOT NULL
               THEN greatest(r.observed_at, least(${ago('$5')}, r.removal_sent_at))
             ELSE r.observed_at END,
           removal_sent_at = CASE WHEN ${OBSERVED_PRESENT} AND NOT s."inFlight" THEN NULL
             WHEN s."observedPresent" OR $2::float8 IS NULL THEN r.removal_sent_at ELSE coalesce(r.removal_sent_at, ${LAST_SEEN}) END,
           is_missing = r.is_missing AND NOT (${OBSERVED_PRESENT}), is_suspended = r.is_suspended AND NOT (${OBSERVED_PRESENT})
         FROM jsonb_to_recordset($1::jsonb) AS s("ruleId" uuid, revision int, state text, "observedPresent" boolean,
             "presentAtStart" boolean, "providerRuleId" text, "isUnmanaged" boolean, "isUnmarked" boolean, attempts int, "dueInMs" float8,
             "inFlight" boolean, message text, "targetMissing" boolean, unwanted text, adopt jsonb)
           JOIN (SELECT * FROM rules WHERE id = ANY ($4::uuid[]) ORDER BY id FOR NO KEY UPDATE) old ON old.id = s."ruleId"
           JOIN targets t ON t.id = old.target_id
         WHERE r.id = old.id
         RETURNING r.id AS "ruleId", old.present_since IS NOT NULL AS "wasPresent",
           old.possible_since IS NOT NULL AS "mayHaveBeenPresent", old.is_missing AS "wasMissing",
           old.is_unmarked AS "wasUnmarked", old.is_unmanaged AS "wasUnmanaged", old.last_error AS "lastError",
           r.state, r.is_unmanaged AS "isUnmanaged", coalesce(r.cause, s.unwanted) AS cause`,
        [
          JSON.stringify(rules),
          reading?.startedAgoMs ?? null,
          reading?.endedAgoMs ?? null,
          rules.map(({ ruleId }) => ruleId),
          reading?.firstStartedAgoMs ?? null,
        ],
      ),
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
   * Deletes finished rows: holders whose ResourceIp was removed or refused, released holders of absent rules, and rules
   * that are absent, not due, without holders and without a call in flight.
   * @param ended ResourceIps that are REMOVED or FAILED
   * @param superseded holders that have ended, of rules that others hold
   * @param absent rules that were observed absent
   * @param possiblyPresent of those, the ones that may have been present before without an event recording it
   */
  async deleteFinished(
    tx: Tx,
    ended: readonly string[],
    superseded: readonly Pick<AffectedHolder, 'ruleId' | 'resourceIpId'>[],
    absent: readonly string[],
    possiblyPresent: readonly string[],
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
    if (absent.length === 0) return;
    await tx.query(
      `WITH deleted AS (
         DELETE FROM rules r WHERE id = ANY ($1::uuid[]) AND state = 'absent' AND due_at IS NULL
           AND (in_flight_until IS NULL OR in_flight_until <= now())
           AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id)
         RETURNING id
       )
       UPDATE rules SET possible_since = NULL, present_since = NULL, observed_at = NULL, removal_sent_at = NULL,
         provider_rule_id = NULL, is_unmarked = false
       WHERE id = ANY ($1::uuid[]) AND id <> ALL ($2::uuid[]) AND state = 'absent'
         AND NOT EXISTS (SELECT FROM deleted WHERE deleted.id = rules.id)`,
      [absent, possiblyPresent],
    );
  }
}
