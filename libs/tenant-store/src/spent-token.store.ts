import { type Tx, returned } from '#entities';

/**
 * What can sign nobody in any more, of every organization, is kept for a day: an operator who investigates a fault may
 * need it. Each table has an index on its column.
 */
const SPENT: readonly (readonly [table: string, ranOutAt: string])[] = [
  ['refresh_tokens', 'expires_at'],
  ['account_tokens', 'expires_at'],
  ['mfa_challenges', 'expires_at'],
  ['sign_in_failures', 'last_failed_at'],
  ['known_devices', 'expires_at'],
];

/** Deletes what has run out, for all organizations at once. */
export class SpentTokenStore {
  /**
   * The oldest rows first.
   * @returns how many were deleted, `limit` at most; fewer: none is left that another transaction does not hold
   */
  async deleteSpent(tx: Tx, limit: number): Promise<number> {
    let count = 0;
    for (const [table, ranOutAt] of SPENT) {
      if (count >= limit) break;
      const deleted: unknown = await tx.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${ranOutAt} < now() - interval '1 day'
           ORDER BY ${ranOutAt} LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
        [limit - count],
      );
      count += returned<object>(deleted).length;
    }
    return count;
  }
}
