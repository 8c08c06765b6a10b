import type { OrganizationId } from '#rules';
import { type TenantStore, type Tx, rows } from '#entities';

/** How long a key replays its first answer. */
const KEY_TTL = `interval '24 hours'`;

/** `first`: the key has no answer yet, and this transaction holds it exclusively. */
export type Claim =
  | { readonly kind: 'first' }
  | { readonly kind: 'answered'; readonly answer: object }
  | { readonly kind: 'other-request' };

export class IdempotencyStore implements TenantStore<IdempotencyStore> {
  /**
   * Claims the key for the rest of the transaction. The primary key makes a concurrent caller wait: it gets the first
   * caller's answer, or the key when the first rolled back.
   * @param requestHash distinguishes requests with the same key
   */
  async claim(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    key: string,
    requestHash: string,
  ): Promise<Claim> {
    const taken = await tx.query<unknown[]>(
      `INSERT INTO idempotency_keys (organization_id, user_id, key, request_hash) VALUES ($1, $2, $3, $4)
       ON CONFLICT (user_id, key) DO UPDATE
         SET request_hash = excluded.request_hash, answer = NULL, created_at = now()
         WHERE idempotency_keys.created_at <= now() - ${KEY_TTL}
       RETURNING 1`,
      [organization, userId, key, requestHash],
    );
    if (taken.length > 0) return { kind: 'first' };
    const [known] = await tx.query<{ requestHash: string; answer: object }[]>(
      `SELECT request_hash AS "requestHash", answer FROM idempotency_keys
       WHERE organization_id = $1 AND user_id = $2 AND key = $3`,
      [organization, userId, key],
    );
    if (known?.requestHash !== requestHash) return { kind: 'other-request' };
    return { kind: 'answered', answer: known.answer };
  }

  /** Stores the answer that the claimed key replays. */
  async keepAnswer(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    key: string,
    answer: object,
  ): Promise<void> {
    await tx.query(
      'UPDATE idempotency_keys SET answer = $4 WHERE organization_id = $1 AND user_id = $2 AND key = $3',
      [organization, userId, key, JSON.stringify(answer)],
    );
  }
}

/**
 * Deletes expired keys of all organizations, the oldest first.
 * @returns how many
 */
export async function deleteOldIdempotencyKeys(tx: Tx, limit: number): Promise<number> {
  const deleted = await rows(
    tx,
    `DELETE FROM idempotency_keys k USING (
       SELECT user_id, key FROM idempotency_keys WHERE created_at <= now() - ${KEY_TTL}
       ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED
     ) old WHERE k.user_id = old.user_id AND k.key = old.key RETURNING 1`,
    [limit],
  );
  return deleted.length;
}
