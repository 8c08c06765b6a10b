import type { Tx } from '#entities';

/** Identifies an unmanaged rule of a target. */
export interface UnmanagedRule {
  readonly key: string;
  readonly providerRuleId: string;
}

/** Unmanaged rules of targets, as observed by the last comparison. They are recorded and never modified. */
export class UnmanagedStore {
  seen(tx: Tx, targetId: string): Promise<UnmanagedRule[]> {
    return tx.query(
      'SELECT key, provider_rule_id AS "providerRuleId" FROM unmanaged_rules WHERE target_id = $1',
      [targetId],
    );
  }

  async add(tx: Tx, targetId: string, rules: readonly UnmanagedRule[], endedAgoMs: number): Promise<void> {
    await tx.query(
      `INSERT INTO unmanaged_rules (target_id, key, provider_rule_id, possible_since, present_since)
       SELECT t.id, u.key, u."providerRuleId", t.compared_at, statement_timestamp() - make_interval(secs => $3::float8 / 1000)
       FROM jsonb_to_recordset($2::jsonb) AS u(key text, "providerRuleId" text) JOIN targets t ON t.id = $1
       ON CONFLICT DO NOTHING`,
      [targetId, JSON.stringify(rules), endedAgoMs],
    );
  }

  async remove(tx: Tx, targetId: string, rules: readonly UnmanagedRule[]): Promise<void> {
    await tx.query(
      `DELETE FROM unmanaged_rules u USING jsonb_to_recordset($2::jsonb) AS gone(key text, "providerRuleId" text)
       WHERE u.target_id = $1 AND u.key = gone.key AND u.provider_rule_id = gone."providerRuleId"`,
      [targetId, JSON.stringify(rules)],
    );
  }
}
