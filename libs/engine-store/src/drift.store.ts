import { returned, type Tx } from '#entities';
import { parseRuleKey, portsText, type ObservedRule, type Access } from '#rules';
import { lockOwners } from './lock-owners';

/** Records the drift found by a comparison, and makes rules due for repair. */
export class DriftStore {
  /** Locks the owners of the holders that change with these rules, before any rule is locked. */
  async lockOwners(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await lockOwners(
      tx,
      `rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
       WHERE holder.rule_id = ANY ($1::uuid[]) AND ip.status = 'APPLIED'`,
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
}
