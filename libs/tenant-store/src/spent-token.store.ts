import { type Tx, returned } from '#entities';

/**
 * Expired rows of all organizations are kept for a day for investigations. Each table has an index on its column.
 */
const SPENT: readonly (readonly [table: string, expiredAt: string])[] = [
  ['refresh_tokens', 'expires_at'],
  ['account_tokens', 'expires_at'],
  ['mfa_challenges', 'expires_at'],
  ['sign_in_failures', 'last_failed_at'],
  ['known_devices', 'expires_at'],
];

/** Deletes expired tokens, challenges and counters of all organizations. */
export class SpentTokenStore {
  /**
   * Deletes the oldest rows first.
   * @returns how many were deleted, at most `limit`; fewer: none is left but rows locked by another transaction
   */
  async deleteSpent(tx: Tx, limit: number): Promise<number> {
    let count = 0;
    for (const [table, expiredAt] of SPENT) {
      if (count >= limit) break;
      const deleted: unknown = await tx.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${expiredAt} < now() - interval '1 day'
           ORDER BY ${expiredAt} LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
        [limit - count],
      );
      count += returned<object>(deleted).length;
    }
    return count;
  }
}
