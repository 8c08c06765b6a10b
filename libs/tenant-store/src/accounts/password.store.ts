import type { OrganizationId, PasswordPolicy } from '#rules';
import { type TenantStore, type Tx, rows } from '#entities';

export interface NewPassword {
  readonly passwordHash: string;
  readonly name?: string | undefined;
  readonly insteadOf?: string | undefined;
  /** who has passed on the link by which it is set; null: no one; undefined: as before, for who knows the former one sets it */
  readonly linkBy?: string | null | undefined;
}

export class PasswordStore implements TenantStore<PasswordStore> {
  async policy(tx: Tx, organization: OrganizationId): Promise<PasswordPolicy> {
    const [policy] = await tx.query<PasswordPolicy[]>(
      `SELECT password_min_length AS "passwordMinLength", password_require_uppercase AS "passwordRequireUppercase",
         password_require_lowercase AS "passwordRequireLowercase", password_require_digit AS "passwordRequireDigit",
         password_require_special_char AS "passwordRequireSpecialChar"
       FROM organizations WHERE id = $1`,
      [organization],
    );
    return policy!;
  }

  /** @returns null when the user is gone, inactive, or has no password yet */
  async hash(tx: Tx, organization: OrganizationId, userId: string): Promise<string | null> {
    const [row] = await tx.query<{ passwordHash: string | null }[]>(
      `SELECT password_hash AS "passwordHash" FROM users WHERE organization_id = $1 AND id = $2 AND is_active`,
      [organization, userId],
    );
    return row?.passwordHash ?? null;
  }

  /**
   * Stores a new hash of the same password.
   * @param insteadOf the expected current hash; with another one nothing changes
   */
  async renewHash(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    passwordHash: string,
    insteadOf: string,
  ): Promise<void> {
    await tx.query(
      'UPDATE users SET password_hash = $3 WHERE organization_id = $1 AND id = $2 AND password_hash = $4',
      [organization, userId, passwordHash, insteadOf],
    );
  }

  /**
   * Sets a user's password and invalidates pending password tokens and MFA challenges.
   * @param name undefined: unchanged
   * @param insteadOf the hash of the verified current password; undefined: any
   * @returns false when the user is gone or inactive, or the password has changed meanwhile
   */
  async set(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    { passwordHash, name, insteadOf, linkBy }: NewPassword,
  ): Promise<boolean> {
    const changed = await rows<object>(
      tx,
      `UPDATE users SET password_hash = $3, name = coalesce($4, name), password_changed_at = now(), updated_at = now(),
         password_link_by = CASE WHEN $6 THEN $7::uuid ELSE password_link_by END
       WHERE organization_id = $1 AND id = $2 AND is_active AND ($5::text IS NULL OR password_hash = $5) RETURNING id`,
      [
        organization,
        userId,
        passwordHash,
        name ?? null,
        insteadOf ?? null,
        linkBy !== undefined,
        linkBy ?? null,
      ],
    );
    if (changed.length === 0) return false;
    await tx.query(
      `WITH tokens AS (UPDATE account_tokens SET used_at = now() WHERE user_id = $1 AND used_at IS NULL)
       UPDATE mfa_challenges SET used_at = now() WHERE user_id = $1 AND used_at IS NULL`,
      [userId],
    );
    return true;
  }
}
