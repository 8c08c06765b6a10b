import type { OrganizationId } from '#rules';
import { returned, type Tx } from './database';

/** Whose a refresh token is, and which sign-in it descends from. */
export interface RefreshHolder {
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly familyId: string;
}

export interface RefreshOutcome extends RefreshHolder {
  readonly outcome: 'rotated' | 'forgiven' | 'reused';
  readonly mfaSetupOnly: boolean;
}

/** Refresh tokens, before anybody is known: the token itself says whose it is. */
export class RefreshTokenStore {
  async save(
    tx: Tx,
    token: {
      organizationId: string;
      userId: string;
      familyId: string;
      tokenHash: string;
      mfaSetupOnly: boolean;
      ttlSeconds: number;
    },
  ): Promise<void> {
    await tx.query(
      `INSERT INTO refresh_tokens (organization_id, user_id, family_id, token_hash, mfa_setup_only, expires_at)
       VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
      [
        token.organizationId,
        token.userId,
        token.familyId,
        token.tokenHash,
        token.mfaSetupOnly,
        token.ttlSeconds,
      ],
    );
  }

  /**
   * Uses a refresh token up. Only its first use rotates; a second one within the grace, while no successor has been
   * used, is forgiven (two tabs, a lost answer); any later one is theft and ends the whole family.
   */
  async use(
    tx: Tx,
    tokenHash: string,
    graceSeconds: number,
  ): Promise<RefreshOutcome | { outcome: 'unknown' }> {
    await this.lockOwner(tx, tokenHash);
    const known = `organization_id AS "organizationId", user_id AS "userId", family_id AS "familyId",
      mfa_setup_only AS "mfaSetupOnly"`;
    const [rotated] = returned<Omit<RefreshOutcome, 'outcome'>>(
      await tx.query(
        `UPDATE refresh_tokens SET used_at = now()
         WHERE token_hash = $1 AND used_at IS NULL AND revoked_at IS NULL AND expires_at > now() RETURNING ${known}`,
        [tokenHash],
      ),
    );
    if (rotated) return { outcome: 'rotated', ...rotated };
    const [spent] = await tx.query<(Omit<RefreshOutcome, 'outcome'> & { forgiven: boolean })[]>(
      `SELECT ${known}, t.used_at > now() - make_interval(secs => $2) AND NOT EXISTS (
           SELECT FROM refresh_tokens next
           WHERE next.family_id = t.family_id AND next.created_at > t.created_at AND next.used_at IS NOT NULL
         ) AS forgiven
       FROM refresh_tokens t
       WHERE t.token_hash = $1 AND t.used_at IS NOT NULL AND t.revoked_at IS NULL AND t.expires_at > now()`,
      [tokenHash, graceSeconds],
    );
    if (!spent) return { outcome: 'unknown' };
    const { forgiven, ...holder } = spent;
    if (forgiven) return { outcome: 'forgiven', ...holder };
    await tx.query(
      'UPDATE refresh_tokens SET revoked_at = now() WHERE family_id = $1 AND revoked_at IS NULL',
      [holder.familyId],
    );
    return { outcome: 'reused', ...holder };
  }

  /**
   * Signs out: the token and everything that descends from the same sign-in.
   * @returns whose it was; null when it was worth nothing already
   */
  async revokeFamily(tx: Tx, tokenHash: string): Promise<RefreshHolder | null> {
    await this.lockOwner(tx, tokenHash);
    const [holder] = returned<RefreshHolder>(
      await tx.query(
        `UPDATE refresh_tokens SET revoked_at = now()
         WHERE revoked_at IS NULL AND family_id = (SELECT family_id FROM refresh_tokens WHERE token_hash = $1)
         RETURNING organization_id AS "organizationId", user_id AS "userId", family_id AS "familyId"`,
        [tokenHash],
      ),
    );
    return holder ?? null;
  }

  /**
   * A rotation makes a token that a revocation at the same time would not see: they go one after the other. Whoever
   * revokes for another reason has changed the user's row before, which is the same lock.
   */
  private async lockOwner(tx: Tx, tokenHash: string): Promise<void> {
    await tx.query(
      `SELECT FROM users WHERE id = (SELECT user_id FROM refresh_tokens WHERE token_hash = $1) FOR NO KEY UPDATE`,
      [tokenHash],
    );
  }

  /**
   * Ends a user's sign-ins. To be called after the user's row was changed in the transaction: see `lockOwner`.
   * @param but the family that goes on; null: none
   */
  async revokeAllBut(tx: Tx, userId: string, but: string | null): Promise<void> {
    await tx.query(
      `UPDATE refresh_tokens SET revoked_at = now()
       WHERE user_id = $1 AND revoked_at IS NULL AND family_id IS DISTINCT FROM $2::uuid`,
      [userId, but],
    );
  }
}
