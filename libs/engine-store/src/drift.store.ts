import { returned, type Tx } from '#entities';
import { parseRuleKey, portsText, type ObservedRule, type RenamedRule } from '#rules';
import type { LostRule } from './comparison';
import type { Access } from './due-rule';
import { LAST_SEEN } from './ledger.store';
import { lockOwners } from './lock-owners';
import { POSSIBLE_SINCE_IF_IN_FLIGHT } from './possible-since';

/** Repairs of a rule within an hour, before it is suspended for the rest of the hour. */
const MAX_REPAIRS = 3;

/** Records the drift found by a comparison, and makes rules due for repair. */
export class DriftStore {
  /** Locks the owners of what `markMissing` and `rename` change, before any rule is written. */
  async lockOwners(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await lockOwners(
      tx,
      `rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
       WHERE holder.rule_id = ANY ($1::uuid[]) AND ip.status = 'APPLIED'`,
      [ruleIds],
    );
  }

  /**
   * Makes desired rules that have disappeared due again. A rule that another program keeps removing is suspended until the
   * hour is over.
   */
  async markMissing(tx: Tx, ruleIds: readonly string[]): Promise<LostRule[]> {
    return returned<LostRule>(
      await tx.query(
        `UPDATE rules SET state = 'absent', revision = revision + 1, attempts = 0, is_missing = true, is_unmarked = false,
           possible_since = ${POSSIBLE_SINCE_IF_IN_FLIGHT}, present_since = NULL, observed_at = NULL, removal_sent_at = NULL,
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
   * Suspends settled rules that are present, or extends their suspension: an hour, in which the next comparison looks again.
   * @returns the suspended rules
   */
  async suspendPresent(tx: Tx, ruleIds: readonly string[]): Promise<string[]> {
    const suspended = returned<{ id: string }>(
      await tx.query(
        `UPDATE rules SET is_suspended = true, due_at = now() + interval '1 hour'
         WHERE id = ANY ($1::uuid[]) AND state = 'present' AND unwanted_since IS NULL
           AND (due_at IS NULL OR (is_suspended AND due_at > now())) RETURNING id`,
        [ruleIds],
      ),
    );
    return suspended.map(({ id }) => id);
  }

  /** Makes suspended rules due that are present: a pass settles them. */
  async resume(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE rules SET due_at = now() WHERE id = ANY ($1::uuid[]) AND is_suspended AND state = 'present'`,
      [ruleIds],
    );
  }

  /**
   * Returns the holders of suspended rules to PENDING, with a message. Their timeout starts when the rule is due again.
   * @returns the sessions whose status may change
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

  /** Makes stale rules due for removal: recorded as absent, without holders, and observed present. */
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
   * Inserts rules for orphans, due for removal. An orphan may have been present since the previous comparison, or since the
   * target was first used.
   * @param endedAgoMs age of the read
   * @returns the inserted rules
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
   * Ends the certain interval of rules that were not observed and that a pass has yet to settle. Call it before
   * `ComparisonStore.finish`.
   */
  async noteUnobserved(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE rules r SET removal_sent_at = least(r.removal_sent_at, ${LAST_SEEN}) FROM targets t
       WHERE r.id = ANY ($1::uuid[]) AND t.id = r.target_id AND r.state <> 'absent'`,
      [ruleIds],
    );
  }

  /** Records that rules are ours by their recorded id alone. */
  async noteUnmarked(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query('UPDATE rules SET is_unmarked = true WHERE id = ANY ($1::uuid[])', [ruleIds]);
  }

  /** Records rules as unmanaged: an unmanaged rule with the same key has replaced them. */
  async noteTaken(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE rules SET is_unmanaged = true, is_unmarked = false, possible_since = now(), present_since = now(),
         observed_at = now(), removal_sent_at = NULL WHERE id = ANY ($1::uuid[])`,
      [ruleIds],
    );
  }

  /** Records the first observation of rules that were recorded as present. */
  async noteObserved(tx: Tx, ruleIds: readonly string[], endedAgoMs: number): Promise<void> {
    await tx.query(
      `UPDATE rules SET present_since = statement_timestamp() - make_interval(secs => $2::float8 / 1000)
       WHERE id = ANY ($1::uuid[]) AND present_since IS NULL`,
      [ruleIds, endedAgoMs],
    );
  }

  /** Records new provider ids: another program recreated the rules, so their certain interval starts again. */
  async rename(tx: Tx, renamed: readonly RenamedRule[], endedAgoMs: number): Promise<void> {
    await tx.query(
      `UPDATE rules r SET provider_rule_id = n."providerRuleId", observed_at = NULL, removal_sent_at = NULL,
         present_since = statement_timestamp() - make_interval(secs => $2::float8 / 1000)
       FROM jsonb_to_recordset($1::jsonb) AS n("ruleId" uuid, "providerRuleId" text) WHERE r.id = n."ruleId"`,
      [JSON.stringify(renamed), endedAgoMs],
    );
  }
}
