import type { OrganizationId, PasswordPolicy, Tier } from '#rules';
import { type TenantStore, type Tx, returned } from '#entities';

export interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly subscriptionTier: Tier;
  readonly suspended: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface OrganizationSettingsRow extends PasswordPolicy {
  readonly mfaRequired: boolean;
  /** sessions let in the address that their start came from, and no other */
  readonly requireDetectedAddress: boolean;
  /** null: passwords never expire */
  readonly passwordExpirationDays: number | null;
}

/** undefined: stays as it is */
export type OrganizationSettingsChanges = {
  readonly [Name in keyof OrganizationSettingsRow]?: OrganizationSettingsRow[Name] | undefined;
};

const PROFILE = `id, name, slug, subscription_tier AS "subscriptionTier", suspended_at IS NOT NULL AS suspended,
  created_at AS "createdAt", updated_at AS "updatedAt"`;

const SETTINGS = `mfa_required AS "mfaRequired", password_min_length AS "passwordMinLength",
  password_require_uppercase AS "passwordRequireUppercase", password_require_lowercase AS "passwordRequireLowercase",
  password_require_digit AS "passwordRequireDigit", password_require_special_char AS "passwordRequireSpecialChar",
  password_expiration_days AS "passwordExpirationDays", require_detected_address AS "requireDetectedAddress"`;

export class OrganizationStore implements TenantStore<OrganizationStore> {
  async find(tx: Tx, organization: OrganizationId): Promise<OrganizationRow> {
    const [row] = await tx.query<OrganizationRow[]>(`SELECT ${PROFILE} FROM organizations WHERE id = $1`, [
      organization,
    ]);
    return row!;
  }

  /** The row as it is, kept so until the commit: what is compared with it is what changed. */
  async findLocked(tx: Tx, organization: OrganizationId): Promise<OrganizationRow> {
    const [row] = await tx.query<OrganizationRow[]>(
      `SELECT ${PROFILE} FROM organizations WHERE id = $1 FOR NO KEY UPDATE`,
      [organization],
    );
    return row!;
  }

  async rename(tx: Tx, organization: OrganizationId, name: string): Promise<OrganizationRow> {
    const [row] = returned<OrganizationRow>(
      await tx.query(
        `UPDATE organizations SET name = $2, updated_at = now() WHERE id = $1 RETURNING ${PROFILE}`,
        [organization, name],
      ),
    );
    return row!;
  }

  async settings(tx: Tx, organization: OrganizationId): Promise<OrganizationSettingsRow> {
    const [row] = await tx.query<OrganizationSettingsRow[]>(
      `SELECT ${SETTINGS} FROM organizations WHERE id = $1`,
      [organization],
    );
    return row!;
  }

  /** As `findLocked`, for the settings. */
  async settingsLocked(tx: Tx, organization: OrganizationId): Promise<OrganizationSettingsRow> {
    const [row] = await tx.query<OrganizationSettingsRow[]>(
      `SELECT ${SETTINGS} FROM organizations WHERE id = $1 FOR NO KEY UPDATE`,
      [organization],
    );
    return row!;
  }

  async updateSettings(
    tx: Tx,
    organization: OrganizationId,
    changes: OrganizationSettingsChanges,
  ): Promise<OrganizationSettingsRow> {
    const [row] = returned<OrganizationSettingsRow>(
      await tx.query(
        `UPDATE organizations SET mfa_required = coalesce($2, mfa_required),
           password_min_length = coalesce($3, password_min_length),
           password_require_uppercase = coalesce($4, password_require_uppercase),
           password_require_lowercase = coalesce($5, password_require_lowercase),
           password_require_digit = coalesce($6, password_require_digit),
           password_require_special_char = coalesce($7, password_require_special_char),
           password_expiration_days = CASE WHEN $8 THEN $9 ELSE password_expiration_days END,
           require_detected_address = coalesce($10, require_detected_address), updated_at = now()
         WHERE id = $1 RETURNING ${SETTINGS}`,
        [
          organization,
          changes.mfaRequired ?? null,
          changes.passwordMinLength ?? null,
          changes.passwordRequireUppercase ?? null,
          changes.passwordRequireLowercase ?? null,
          changes.passwordRequireDigit ?? null,
          changes.passwordRequireSpecialChar ?? null,
          changes.passwordExpirationDays !== undefined,
          changes.passwordExpirationDays ?? null,
          changes.requireDetectedAddress ?? null,
        ],
      ),
    );
    return row!;
  }
}
