import type { OrganizationId } from '#rules';
import { type Tx, first, rows } from '#entities';
import { UNCHECKED_FOR } from '../sso/sso-sign-in.store';

/** A refresh token's user and the sign-in it descends from. */
export interface RefreshHolder {
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly familyId: string;
}

export interface RefreshOutcome extends RefreshHolder {
  readonly outcome: 'rotated' | 'forgiven' | 'reused';
  readonly mfaSetupOnly: boolean;
  /** start of the sign-in */
  readonly signedInAt: Date;
}

export interface NewRefreshToken {
  readonly organizationId: string;
  readonly userId: string;
  readonly familyId: string;
  readonly tokenHash: string;
  readonly mfaSetupOnly: boolean;
  /** null: the sign-in starts now */
  readonly signedInAt: Date | null;
  readonly ttlSeconds: number;
  /** maximum age of the sign-in, regardless of refreshes */
  readonly maxDays: number;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

const KNOWN = `organization_id AS "organizationId", user_id AS "userId", family_id AS "familyId",
  mfa_setup_only AS "mfaSetupOnly", signed_in_at AS "signedInAt"`;

/** SQL: the longest life of the family $3. */
const LIFETIME = `least(make_interval(hours => 24 * $8::int), (SELECT interval '${UNCHECKED_FOR}' FROM sso_sign_ins s
         WHERE s.family_id = $3 AND s.sealed_data IS NULL))`;

/** Refresh tokens. Used before authentication: the token identifies the user. */
export class RefreshTokenStore {
  /**
   * A company sign-in that its issuer cannot be asked about ends earlier.
   * @returns seconds until the sign-in's maximum age; null, and saves nothing, when that is reached
   */
  async save(tx: Tx, token: NewRefreshToken): Promise<number | null> {
    const [saved] = await tx.query<{ secondsLeft: number }[]>(
      `INSERT INTO refresh_tokens (organization_id, user_id, family_id, token_hash, mfa_setup_only, signed_in_at,
         expires_at, ip_address, user_agent)
       SELECT $1, $2, $3, $4, $5, began.at, least(now() + make_interval(secs => $7), ends.at), $9, $10
       FROM (SELECT coalesce($6::timestamptz, now()) AS at) began,
         LATERAL (SELECT began.at + ${LIFETIME} AS at) ends
       WHERE ends.at > now()
       RETURNING extract(epoch FROM signed_in_at + ${LIFETIME} - now())::float8 AS "secondsLeft"`,
      [
        token.organizationId,
        token.userId,
        token.familyId,
        token.tokenHash,
        token.mfaSetupOnly,
        token.signedInAt,
        token.ttlSeconds,
        token.maxDays,
        token.ipAddress,
        token.userAgent,
      ],
    );
    return saved?.secondsLeft ?? null;
  }

  /**
   * Consumes a refresh token. Only its first use rotates. A second use within the grace period, while no successor has
   * been used, is `forgiven` (two tabs, a lost answer), and only the newest successor stays valid. Any other use counts
   * as theft and revokes the whole family.
   */
  async use(
    tx: Tx,
    tokenHash: string,
    graceSeconds: number,
  ): Promise<RefreshOutcome | { outcome: 'unknown' }> {
    await this.lockOwner(tx, tokenHash);
    const [rotated] = await rows<Omit<RefreshOutcome, 'outcome'>>(
      tx,
      `UPDATE refresh_tokens t SET used_at = now()
       WHERE token_hash = $1 AND used_at IS NULL AND superseded_at IS NULL AND revoked_at IS NULL
         AND expires_at > now() RETURNING ${KNOWN}`,
      [tokenHash],
    );
    if (rotated) return { outcome: 'rotated', ...rotated };
    const [spent] = await tx.query<(Omit<RefreshOutcome, 'outcome'> & { forgiven: boolean })[]>(
      `SELECT ${KNOWN}, t.superseded_at IS NULL AND t.used_at > now() - make_interval(secs => $2) AND NOT EXISTS (
           SELECT FROM refresh_tokens next
           WHERE next.family_id = t.family_id AND next.created_at > t.created_at AND next.used_at IS NOT NULL
         ) AS forgiven
       FROM refresh_tokens t
       WHERE t.token_hash = $1 AND (t.used_at IS NOT NULL OR t.superseded_at IS NOT NULL) AND t.revoked_at IS NULL
         AND t.expires_at > now()`,
      [tokenHash, graceSeconds],
    );
    if (!spent) return { outcome: 'unknown' };
    const { forgiven, ...holder } = spent;
    if (!forgiven) {
      await tx.query(
        'UPDATE refresh_tokens SET revoked_at = now() WHERE family_id = $1 AND revoked_at IS NULL',
        [holder.familyId],
      );
      return { outcome: 'reused', ...holder };
    }
    // only one lineage may continue: another one is stale or an attacker's
    await tx.query(
      `UPDATE refresh_tokens SET superseded_at = now()
       WHERE family_id = $1 AND used_at IS NULL AND superseded_at IS NULL`,
      [holder.familyId],
    );
    return { outcome: 'forgiven', ...holder };
  }

  /**
   * Signs out: revokes the token and all others of the same sign-in.
   * @returns its user; null when it was already invalid
   */
  async revokeFamily(tx: Tx, tokenHash: string): Promise<RefreshHolder | null> {
    await this.lockOwner(tx, tokenHash);
    return first(
      tx,
      `UPDATE refresh_tokens SET revoked_at = now()
       WHERE revoked_at IS NULL AND family_id = (SELECT family_id FROM refresh_tokens WHERE token_hash = $1)
       RETURNING organization_id AS "organizationId", user_id AS "userId", family_id AS "familyId"`,
      [tokenHash],
    );
  }

  /**
   * Serializes rotations and revocations: a rotation inserts a token that a concurrent revocation would not see. Other
   * revocations have updated the user's row before, which takes the same lock.
   */
  private async lockOwner(tx: Tx, tokenHash: string): Promise<void> {
    await tx.query(
      `SELECT FROM users WHERE id = (SELECT user_id FROM refresh_tokens WHERE token_hash = $1) FOR NO KEY UPDATE`,
      [tokenHash],
    );
  }

  /**
   * Ends a user's sign-ins. Call it after the user's row was updated in the transaction: see `lockOwner`.
   * @param keptFamilyId the family that stays valid; null: none
   */
  async revokeAllExcept(tx: Tx, userId: string, keptFamilyId: string | null): Promise<void> {
    await tx.query(
      `UPDATE refresh_tokens SET revoked_at = now()
       WHERE user_id = $1 AND revoked_at IS NULL AND family_id IS DISTINCT FROM $2::uuid`,
      [userId, keptFamilyId],
    );
  }
}
