import type { Instant } from '#rules';
import type { Tx } from '#entities';
import { Columns } from './columns';

/** An unmanaged rule of a target, since it was observed. */
export interface UnmanagedRule {
  readonly key: string;
  readonly providerRuleId: string;
  /** null: it was there at the first comparison */
  readonly possibleSince: Instant | null;
  readonly presentSince: Instant;
}

const COLUMNS = new Columns({ text: ['key', 'provider_rule_id'], time: ['possible_since', 'present_since'] });

/** Unmanaged rules of targets, as observed by the last comparison. They are recorded and never modified. */
export class UnmanagedStore {
  listSeen(tx: Tx, targetId: string): Promise<UnmanagedRule[]> {
    return tx.query(`SELECT ${COLUMNS.of('u')} FROM unmanaged_rules u WHERE target_id = $1`, [targetId]);
  }

  async add(tx: Tx, targetId: string, rules: readonly UnmanagedRule[]): Promise<void> {
    await tx.query(
      `INSERT INTO unmanaged_rules (target_id, ${COLUMNS.names})
       SELECT $1::uuid, ${COLUMNS.values} FROM jsonb_to_recordset($2::jsonb) AS given(${COLUMNS.given}) ON CONFLICT DO NOTHING`,
      [targetId, JSON.stringify(rules)],
    );
  }

  /**
   * As `add`, for rules whose key is not listed yet. The target's digest is cleared, so that the next comparison looks at
   * the list.
   */
  async list(tx: Tx, targetId: string, rules: readonly UnmanagedRule[]): Promise<void> {
    const listed = new Set((await this.listSeen(tx, targetId)).map(({ key }) => key));
    const fresh = rules.filter(({ key }) => !listed.has(key));
    if (fresh.length === 0) return;
    await this.add(tx, targetId, fresh);
    await tx.query('UPDATE targets SET unmanaged_digest = NULL WHERE id = $1', [targetId]);
  }

  async remove(
    tx: Tx,
    targetId: string,
    rules: readonly Pick<UnmanagedRule, 'key' | 'providerRuleId'>[],
  ): Promise<void> {
    await tx.query(
      `DELETE FROM unmanaged_rules u USING jsonb_to_recordset($2::jsonb) AS gone(key text, "providerRuleId" text)
       WHERE u.target_id = $1 AND u.key = gone.key AND u.provider_rule_id = gone."providerRuleId"`,
      [targetId, JSON.stringify(rules)],
    );
  }
}
