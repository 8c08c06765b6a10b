import { returned, type Tx } from '#entities';
import { parseRuleKey, portsText, type ObservedRule, type RenamedRule } from '#rules';
import type { LostRule } from './comparison';
import type { Access } from './convergence.store';
import { LAST_SEEN } from './ledger.store';
import { lockOwners } from './lock-owners';
import { STILL_POSSIBLE } from './still-possible';

/** After so many repairs within an hour the rule is left alone until the hour is over. */
const MAX_REPAIRS = 3;

/** What a comparison found to differ becomes due, or is noted. */
export class DriftStore {
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
      `UPDATE rules SET is_unmanaged = true, is_unmarked = false, possible_since = now(), present_since = now(),
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
}
