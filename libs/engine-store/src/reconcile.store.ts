import { parseRuleKey, portsText, TARGET_GONE_MS, type ObservedRule, type RenamedRule } from '#rules';
import type { HealthReport, KnownRules, LostRule, ReconcileWay } from './comparison';
import { HOLDING, returned, type Tx } from '#entities';
import type { Access } from './convergence.store';
import type { DueComparison, Lease } from './lease.store';
import { LAST_SEEN } from './ledger.store';
import { lockOwners } from './lock-owners';

/** Between comparisons: with the time a worker takes, what another program changed is repaired within a minute. */
const INTERVAL_SECONDS = 45;
/** Through one credential, however many targets it leads to: a quarter of what EC2 lets an account read. */
const READS_PER_SECOND = 5;
/** While no way leads to the target and nothing of ours is left in it. */
const UNREACHABLE_INTERVAL_SECONDS = 600;
/** After so many repairs within an hour the rule is left alone until the hour is over. */
const MAX_REPAIRS = 3;

/** For `SET`, of a rule observed absent: from when on it is possible, when a call may still land late. */
const STILL_POSSIBLE = 'CASE WHEN in_flight_until > now() THEN possible_since END';

/** Compares targets with what the database believes. It serves every organization at once, as convergence does. */
export class ReconcileStore {
  /** @param intervalSeconds between two comparisons of one target */
  constructor(private readonly intervalSeconds = INTERVAL_SECONDS) {}

  /**
   * The comparison is done: plans the next one, unless somebody asked for one meanwhile, and notes that everything
   * present by our record was present. Call it in a transaction that began before the age was taken: the statement may
   * come late, and the reading is not said to be newer than it is.
   * @param unmanagedDigest of the unmanaged rules that were seen; null: the target was not read
   * @param startedAgoMs how old the reading is
   */
  async finish(
    tx: Tx,
    targetId: string,
    { againAt }: DueComparison,
    unmanagedDigest: string | null,
    startedAgoMs: number,
  ): Promise<void> {
    await tx.query(
      `UPDATE targets SET
         compared_at = CASE WHEN $5::text IS NULL THEN compared_at ELSE now() - make_interval(secs => $6::float8 / 1000) END,
         unmanaged_digest = coalesce($5, unmanaged_digest),
         reconcile_requested = reconcile_requested AND reconcile_due_at <> $2::timestamptz,
         reconcile_due_at = CASE WHEN reconcile_due_at <> $2::timestamptz THEN reconcile_due_at
           ELSE now() + make_interval(secs => greatest($3::float8, (
             SELECT max(objects.count) FROM (SELECT DISTINCT credential_id FROM resources WHERE target_id = $1) way
             CROSS JOIN LATERAL (
               SELECT count(DISTINCT target_id) FROM resources WHERE credential_id = way.credential_id) objects
           ) / $4::float8)) END
       WHERE id = $1`,
      [targetId, againAt, this.intervalSeconds, READS_PER_SECOND, unmanagedDigest, startedAgoMs],
    );
  }

  /** Asks for a comparison soon. @param requested somebody waits for the outcome */
  async ask(tx: Tx, targetId: string, inSeconds: number, requested: boolean): Promise<void> {
    await tx.query(
      `UPDATE targets SET reconcile_due_at = least(reconcile_due_at, now() + make_interval(secs => $2)),
         reconcile_requested = reconcile_requested OR $3 WHERE id = $1`,
      [targetId, inSeconds, requested],
    );
  }

  /** Puts the next one off: nothing can be seen of the target, and nothing of ours is in it. */
  async putOff(tx: Tx, targetId: string): Promise<void> {
    await tx.query(
      `UPDATE targets SET reconcile_due_at = now() + make_interval(secs => $2)
       WHERE id = $1 AND NOT reconcile_requested
         AND NOT EXISTS (SELECT FROM rules WHERE target_id = $1 AND state <> 'absent')`,
      [targetId, Math.max(UNREACHABLE_INTERVAL_SECONDS, this.intervalSeconds)],
    );
  }

  /** Every live rule of the target, and what was unmanaged there at the last comparison. */
  async known(tx: Tx, lease: Lease): Promise<KnownRules> {
    const [known] = await tx.query<KnownRules[]>(
      `SELECT t.unmanaged_digest AS "unmanagedDigest", ARRAY(
         SELECT jsonb_build_object('ruleId', r.id, 'key', r.key, 'state', r.state, 'isForeign', r.is_foreign,
           'isUnmarked', r.is_unmarked, 'providerRuleId', r.provider_rule_id,
           'targetMissing', r.target_missing_since IS NOT NULL, 'wasObserved', r.present_since IS NOT NULL,
           'wanted', EXISTS (
             SELECT FROM rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
             WHERE holder.rule_id = r.id AND holder.released_at IS NULL AND ip.status IN (${HOLDING})))
         FROM rules r WHERE r.target_id = t.id) AS rules
       FROM targets t WHERE t.id = $1`,
      [lease.targetId],
    );
    return known!;
  }

  /** The ways of the resources that name the target; without any, the ways its rules were written. */
  ways(tx: Tx, lease: Lease): Promise<ReconcileWay[]> {
    return tx.query(
      `WITH named AS (
         SELECT r.credential_id, r.region, jsonb_agg(jsonb_build_object('id', r.id, 'organizationId', r.organization_id,
           'name', r.name, 'lastOutcome', (
             SELECT jsonb_build_object('eventType', e.event_type, 'message', e.message) FROM resource_health_events e
             WHERE e.resource_id = r.id AND e.event_type IN ('RECONCILE_OK', 'RECONCILE_FAILED')
             ORDER BY e.created_at DESC LIMIT 1))) AS resources
         FROM resources r WHERE r.target_id = $1 AND r.deleted_at IS NULL GROUP BY r.credential_id, r.region
       ), written AS (
         SELECT DISTINCT credential_id, region, '[]'::jsonb AS resources FROM rules
         WHERE target_id = $1 AND state <> 'absent' AND credential_id IS NOT NULL AND NOT EXISTS (SELECT FROM named)
       )
       SELECT jsonb_build_object('credentialId', credential_id, 'region', region) AS access, resources
       FROM (SELECT * FROM named UNION ALL SELECT * FROM written) ways`,
      [lease.targetId],
    );
  }

  /** Locks the owners of what `lose` and `rename` move, before any rule is written. */
  async lockOwners(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await lockOwners(
      tx,
      `rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
       WHERE holder.rule_id = ANY ($1::uuid[]) AND ip.status = 'APPLIED'`,
      [ruleIds],
    );
  }

  /**
   * Desired rules that have disappeared are due again; what another program has removed several times within an hour is
   * left alone until the hour is over.
   */
  async lose(tx: Tx, ruleIds: readonly string[]): Promise<LostRule[]> {
    return returned<LostRule>(
      await tx.query(
        `UPDATE rules SET state = 'absent', revision = revision + 1, attempts = 0, is_missing = true, is_unmarked = false,
           possible_since = ${STILL_POSSIBLE}, present_since = NULL, observed_at = NULL, removal_sent_at = NULL,
           lost_count = CASE WHEN lost_at > now() - interval '1 hour' THEN lost_count + 1 ELSE 1 END,
           lost_at = CASE WHEN lost_at > now() - interval '1 hour' THEN lost_at ELSE now() END,
           is_suspended = coalesce(lost_at > now() - interval '1 hour' AND lost_count >= ${MAX_REPAIRS}, false),
           due_at = CASE WHEN lost_at > now() - interval '1 hour' AND lost_count >= ${MAX_REPAIRS}
             THEN lost_at + interval '1 hour' ELSE now() END
         WHERE id = ANY ($1::uuid[]) AND state = 'present' RETURNING id, is_suspended AS "isSuspended"`,
        [ruleIds],
      ),
    );
  }

  /**
   * Those who hold suspended rules wait for them again, and are told why. They are not given up before the rule is tried
   * again.
   * @returns the sessions to look at
   */
  async suspendHolders(tx: Tx, ruleIds: readonly string[], message: string): Promise<string[]> {
    const moved = returned<{ sessionId: string | null }>(
      await tx.query(
        `UPDATE resource_ips ip SET status = 'PENDING', pending_since = r.due_at, error_message = $2
         FROM rules r JOIN rule_holders h ON h.rule_id = r.id
         WHERE r.id = ANY ($1::uuid[]) AND h.released_at IS NULL AND ip.id = h.resource_ip_id AND ip.status = 'APPLIED'
         RETURNING ip.session_id AS "sessionId"`,
        [ruleIds, message],
      ),
    );
    return [...new Set(moved.flatMap(({ sessionId }) => sessionId ?? []))];
  }

  /** Known rules that are present although they were believed absent and no holder wants them: they are removed. */
  async makeStaleDue(tx: Tx, ruleIds: readonly string[], access: Access): Promise<void> {
    await tx.query(
      `UPDATE rules SET state = 'present', due_at = now(), revision = revision + 1, attempts = 0, closing = true,
         credential_id = coalesce(credential_id, $2), region = CASE WHEN credential_id IS NULL THEN $3 ELSE region END,
         unwanted_since = now(), overdue_at = NULL, cause = 'STALE_RULE', present_since = now(), possible_since = now(),
         observed_at = now(), removal_sent_at = NULL
       WHERE id = ANY ($1::uuid[]) AND state = 'absent'`,
      [ruleIds, access.credentialId, access.region],
    );
  }

  /**
   * Takes over rules with our mark that the database does not know, to be removed as any other that is unwanted. They may
   * have been present since the comparison before; without one, for as long as anybody names the target.
   * @param endedAgoMs how old the reading is
   * @returns the rules they are now, by key
   */
  async takeOver(
    tx: Tx,
    targetId: string,
    orphans: readonly Pick<ObservedRule, 'key' | 'providerRuleId'>[],
    access: Access,
    cause: 'ORPHAN' | 'MAKE_ROOM',
    endedAgoMs: number,
  ): Promise<{ ruleId: string; key: string }[]> {
    const rows = orphans.map(({ key, providerRuleId }) => {
      const { address, protocol, ports } = parseRuleKey(key);
      return { key, address, protocol, ports: portsText(ports), provider_rule_id: providerRuleId };
    });
    return tx.query(
      `INSERT INTO rules (target_id, key, address, protocol, ports, state, provider_rule_id, credential_id, region,
         due_at, closing, cause, unwanted_since, possible_since, present_since, observed_at, accounted_to)
       SELECT $1, o.key, o.address, o.protocol, o.ports, 'present', o.provider_rule_id, $3, $4, now(), true, $5, now(),
         coalesce(t.compared_at, t.created_at), CASE WHEN $5 = 'ORPHAN' THEN statement_timestamp() - make_interval(secs => $6::float8 / 1000) END,
         now(), t.accounted_to
       FROM jsonb_to_recordset($2::jsonb)
         AS o(key text, address text, protocol text, ports text, provider_rule_id text)
       JOIN targets t ON t.id = $1
       ON CONFLICT DO NOTHING RETURNING id AS "ruleId", key`,
      [targetId, JSON.stringify(rows), access.credentialId, access.region, cause, endedAgoMs],
    );
  }

  /**
   * Rules that were observed absent while a pass still has to settle them: it is not certain any more that they are
   * present. Call it before `finish`.
   */
  async noteUnseen(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE rules r SET removal_sent_at = least(r.removal_sent_at, ${LAST_SEEN}) FROM targets t
       WHERE r.id = ANY ($1::uuid[]) AND t.id = r.target_id AND r.state <> 'absent'`,
      [ruleIds],
    );
  }

  /** Ours by their recorded id alone from now on. */
  async noteUnmarked(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query('UPDATE rules SET is_unmarked = true WHERE id = ANY ($1::uuid[])', [ruleIds]);
  }

  /** In their place an unmanaged rule lets the address in: they count as unmanaged from now on. */
  async noteTaken(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE rules SET is_foreign = true, is_unmarked = false, possible_since = now(), present_since = now(),
         observed_at = now(), removal_sent_at = NULL WHERE id = ANY ($1::uuid[])`,
      [ruleIds],
    );
  }

  /** Rules that are present by our record and were seen for the first time by this comparison. */
  async noteObserved(tx: Tx, ruleIds: readonly string[], endedAgoMs: number): Promise<void> {
    await tx.query(
      `UPDATE rules SET present_since = statement_timestamp() - make_interval(secs => $2::float8 / 1000)
       WHERE id = ANY ($1::uuid[]) AND present_since IS NULL`,
      [ruleIds, endedAgoMs],
    );
  }

  /** Another program made them anew: it is certain only from now on that they are present. */
  async rename(tx: Tx, renamed: readonly RenamedRule[], endedAgoMs: number): Promise<void> {
    await tx.query(
      `UPDATE rules r SET provider_rule_id = n."providerRuleId", observed_at = NULL, removal_sent_at = NULL,
         present_since = statement_timestamp() - make_interval(secs => $2::float8 / 1000)
       FROM jsonb_to_recordset($1::jsonb) AS n("ruleId" uuid, "providerRuleId" text) WHERE r.id = n."ruleId"`,
      [JSON.stringify(renamed), endedAgoMs],
    );
  }

  /** The unmanaged rules seen at the last comparison. */
  unmanaged(tx: Tx, targetId: string): Promise<{ key: string; providerRuleId: string }[]> {
    return tx.query(
      'SELECT key, provider_rule_id AS "providerRuleId" FROM unmanaged_rules WHERE target_id = $1',
      [targetId],
    );
  }

  async addUnmanaged(
    tx: Tx,
    targetId: string,
    rules: readonly { readonly key: string; readonly providerRuleId: string }[],
    endedAgoMs: number,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO unmanaged_rules (target_id, key, provider_rule_id, possible_since, present_since)
       SELECT t.id, u.key, u."providerRuleId", t.compared_at, statement_timestamp() - make_interval(secs => $3::float8 / 1000)
       FROM jsonb_to_recordset($2::jsonb) AS u(key text, "providerRuleId" text) JOIN targets t ON t.id = $1
       ON CONFLICT DO NOTHING`,
      [targetId, JSON.stringify(rules), endedAgoMs],
    );
  }

  async removeUnmanaged(
    tx: Tx,
    targetId: string,
    rules: readonly { readonly key: string; readonly providerRuleId: string }[],
  ): Promise<void> {
    await tx.query(
      `DELETE FROM unmanaged_rules u USING jsonb_to_recordset($2::jsonb) AS gone(key text, "providerRuleId" text)
       WHERE u.target_id = $1 AND u.key = gone.key AND u.provider_rule_id = gone."providerRuleId"`,
      [targetId, JSON.stringify(rules)],
    );
  }

  /**
   * Notes that a way leads to no target, or to one again.
   * @returns `gone` when it has led to none for so long that the rules written that way are gone with it, `doubted`
   *   while that has to be seen again to be believed, null when no rule depends on it
   */
  async noteMissing(
    tx: Tx,
    lease: Lease,
    access: Access,
    missing: boolean,
  ): Promise<'gone' | 'doubted' | null> {
    const rules = returned<{ gone: boolean }>(
      await tx.query(
        `UPDATE rules SET target_missing_since = CASE WHEN $4 THEN coalesce(target_missing_since, now()) END
         WHERE target_id = $1 AND credential_id = $2 AND region IS NOT DISTINCT FROM $3 AND state <> 'absent'
           AND ($4 OR target_missing_since IS NOT NULL)
         RETURNING target_missing_since <= now() - make_interval(secs => $5) AS gone`,
        [lease.targetId, access.credentialId, access.region, missing, TARGET_GONE_MS / 1000],
      ),
    );
    if (!missing || rules.length === 0) return null;
    return rules.some((rule) => rule.gone) ? 'gone' : 'doubted';
  }

  /** The present rules that were written this way: they are gone with their target. */
  async presentRules(tx: Tx, lease: Lease, access: Access): Promise<string[]> {
    const rows = await tx.query<{ id: string }[]>(
      `SELECT id FROM rules WHERE target_id = $1 AND credential_id = $2 AND region IS NOT DISTINCT FROM $3
         AND state = 'present' ORDER BY id FOR NO KEY UPDATE`,
      [lease.targetId, access.credentialId, access.region],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * The target is gone, and its rules with it, also those that were suspended: their holders wait for them again, and are
   * told in the provider's words that they cannot be had. The resources are not to be used until they are verified again.
   */
  async giveUpTarget(tx: Tx, lease: Lease, { access, resources }: ReconcileWay): Promise<void> {
    const ids = resources.map((resource) => resource.id);
    await lockOwners(
      tx,
      `resource_ips ip WHERE ip.resource_id = ANY ($1::uuid[]) AND ip.status = 'APPLIED'`,
      [ids],
    );
    await tx.query(
      `UPDATE rules SET state = 'absent', due_at = now(), revision = revision + 1, attempts = 0, is_missing = false,
         is_suspended = false, possible_since = ${STILL_POSSIBLE}, present_since = NULL, observed_at = NULL, removal_sent_at = NULL
       WHERE target_id = $1 AND credential_id = $2 AND region IS NOT DISTINCT FROM $3
         AND (state = 'present' OR (state = 'absent' AND due_at > now()))`,
      [lease.targetId, access.credentialId, access.region],
    );
    await tx.query(
      `UPDATE resource_ips SET status = 'PENDING', pending_since = now()
       WHERE resource_id = ANY ($1::uuid[]) AND status = 'APPLIED'`,
      [ids],
    );
    await tx.query(
      'UPDATE resources SET is_active = false, write_verified = false WHERE id = ANY ($1::uuid[])',
      [ids],
    );
  }

  /** Health events, of resources that are still there. */
  async report(tx: Tx, reports: readonly HealthReport[]): Promise<void> {
    const rows = reports.flatMap(({ resources, eventType, message }) =>
      resources.map(({ id, organizationId }) => ({ id, organizationId, eventType, message })),
    );
    if (rows.length === 0) return;
    await tx.query(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, message)
       SELECT n."organizationId", n.id, n."eventType", n.message
       FROM jsonb_to_recordset($1::jsonb) AS n(id uuid, "organizationId" uuid, "eventType" text, message text)
       JOIN resources r ON r.id = n.id AND r.deleted_at IS NULL`,
      [JSON.stringify(rows)],
    );
  }
}
