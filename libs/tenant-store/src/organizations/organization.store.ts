import { definedFields, type OrganizationId } from '#rules';
import { FOR_NO_KEY_UPDATE, OrganizationEntity, type TenantStore, type Tx, touches } from '#entities';

export interface OrganizationRow extends Pick<
  OrganizationEntity,
  'id' | 'name' | 'slug' | 'ssoRequired' | 'recoveryAdministratorId' | 'createdAt' | 'updatedAt'
> {
  readonly suspended: boolean;
}

/** undefined: unchanged */
export type OrganizationChanges = {
  readonly [Name in 'name' | 'ssoRequired' | 'recoveryAdministratorId']?: OrganizationRow[Name] | undefined;
};

export const ORGANIZATION_SETTINGS = [
  'mfaRequired',
  'passwordMinLength',
  'passwordRequireUppercase',
  'passwordRequireLowercase',
  'passwordRequireDigit',
  'passwordRequireSpecialChar',
  'passwordExpirationDays',
  'requireDetectedAddress',
  'reSignInGraceHours',
  'membershipReviewDays',
  'staticRuleReviewDays',
  'maxResourcesPerSession',
] as const satisfies readonly (keyof OrganizationEntity)[];

export type OrganizationSettingsRow = Readonly<
  Pick<OrganizationEntity, (typeof ORGANIZATION_SETTINGS)[number]>
>;

/** undefined: unchanged */
export type OrganizationSettingsChanges = {
  readonly [Name in keyof OrganizationSettingsRow]?: OrganizationSettingsRow[Name] | undefined;
};

const toRow = (organization: OrganizationEntity): OrganizationRow => ({
  id: organization.id,
  name: organization.name,
  slug: organization.slug,
  suspended: organization.suspendedAt !== null,
  ssoRequired: organization.ssoRequired,
  recoveryAdministratorId: organization.recoveryAdministratorId,
  createdAt: organization.createdAt,
  updatedAt: organization.updatedAt,
});

const toSettings = (organization: OrganizationEntity): OrganizationSettingsRow =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of the row, exactly these fields
  Object.fromEntries(
    ORGANIZATION_SETTINGS.map((name) => [name, organization[name]]),
  ) as OrganizationSettingsRow;

export class OrganizationStore implements TenantStore<OrganizationStore> {
  async find(tx: Tx, organization: OrganizationId): Promise<OrganizationRow> {
    return toRow(await tx.findOneByOrFail(OrganizationEntity, { id: organization }));
  }

  /** Whether its rules may have to be removed through its issuer: until a deleted one is closed. */
  hasIssuer(tx: Tx, organization: OrganizationId): Promise<boolean> {
    return touches(tx, 'SELECT FROM organizations WHERE id = $1 AND closed_at IS NULL', [organization]);
  }

  /** Reads and locks the row until the commit, so that a comparison with it shows what changed. */
  async findLocked(tx: Tx, organization: OrganizationId): Promise<OrganizationRow> {
    return toRow(await lockRow(tx, organization));
  }

  /** @param changes fields that are undefined stay as they are */
  async update(tx: Tx, organization: OrganizationId, changes: OrganizationChanges): Promise<OrganizationRow> {
    await tx.update(OrganizationEntity, { id: organization }, definedFields(changes));
    return this.find(tx, organization);
  }

  async settings(tx: Tx, organization: OrganizationId): Promise<OrganizationSettingsRow> {
    return toSettings(await tx.findOneByOrFail(OrganizationEntity, { id: organization }));
  }

  /** As `findLocked`, for the settings. */
  async lockSettings(tx: Tx, organization: OrganizationId): Promise<OrganizationSettingsRow> {
    return toSettings(await lockRow(tx, organization));
  }

  /** @param changes fields that are undefined stay as they are */
  async updateSettings(
    tx: Tx,
    organization: OrganizationId,
    changes: OrganizationSettingsChanges,
  ): Promise<OrganizationSettingsRow> {
    await tx.update(OrganizationEntity, { id: organization }, definedFields(changes));
    return this.settings(tx, organization);
  }
}

const lockRow = (tx: Tx, organization: OrganizationId): Promise<OrganizationEntity> =>
  tx.findOneOrFail(OrganizationEntity, { where: { id: organization }, lock: FOR_NO_KEY_UPDATE });
