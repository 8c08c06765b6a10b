import { type Tx, rows } from '#entities';

/** Expired rows are kept for a day for investigations. A payment service repeats an event for a month at most. */
const SPENT: readonly (readonly [table: string, expiredAt: string, kept: string, where?: string])[] = [
  ['refresh_tokens', 'expires_at', '1 day'],
  ['account_tokens', 'expires_at', '1 day'],
  ['mfa_challenges', 'expires_at', '1 day'],
  ['sign_in_failures', 'last_failed_at', '1 day'],
  ['known_devices', 'expires_at', '1 day'],
  ['oidc_used_tokens', 'expires_at', '1 day'],
  ['payment_events', 'created_at', '400 days'],
  ['webhook_deliveries', 'created_at', '30 days'],
  ['sso_attempts', 'expires_at', '0 days'],
  ['user_identities', 'last_seen_at', '30 days', 'user_id IS NULL'],
  ['access_requests', 'ended_at', '90 days'],
];

/**
 * Deletes expired tokens, challenges, counters, payment events, deliveries, unlinked identities and access requests of all
 * organizations. Each table has an index.
 */
export class SpentTokenStore {
  /**
   * Deletes the oldest rows first.
   * @returns how many were deleted, at most `limit`; fewer: none is left but rows locked by another transaction
   */
  async deleteSpent(tx: Tx, limit: number): Promise<number> {
    let count = 0;
    for (const [table, expiredAt, kept, where = 'true'] of SPENT) {
      if (count >= limit) break;
      const deleted = await rows(
        tx,
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE ${expiredAt} < now() - interval '${kept}' AND ${where}
           ORDER BY ${expiredAt} LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
        [limit - count],
      );
      count += deleted.length;
    }
    return count;
  }
}
