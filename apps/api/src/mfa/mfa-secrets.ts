import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { Tenants } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { MasterKeys, openField, sealField, unwrapDataKey, type FieldBinding } from '#secrets';
import { DataKeys } from '../credentials/data-keys';

/** The user a second factor belongs to. */
export interface MfaHolder {
  readonly userId: string;
  readonly organizationId: OrganizationId;
}

export interface OpenedMfaSecret {
  readonly secret: string;
  /** as stored, to detect a concurrent replacement */
  readonly sealedSecret: string;
  readonly mfaEnabled: boolean;
}

/** Authenticator secrets, encrypted with the organization's data key. */
@Injectable()
export class MfaSecrets {
  constructor(
    private readonly stores: Tenants,
    private readonly dataKeys: DataKeys,
    private readonly masterKeys: MasterKeys,
  ) {}

  /** Stores a secret until it is confirmed. @returns false when MFA is already enabled */
  async begin({ organizationId, userId }: MfaHolder, secret: string): Promise<boolean> {
    const dataKey = unwrapDataKey(this.masterKeys, await this.dataKeys.of(organizationId));
    const sealed = sealField(dataKey, bindingOf(organizationId, userId), secret);
    return this.stores.mfa.begin(this.stores.autocommit, organizationId, userId, sealed);
  }

  /** @returns null before the setup was started */
  async open(tx: Tx, { organizationId, userId }: MfaHolder): Promise<OpenedMfaSecret | null> {
    const stored = await this.stores.mfa.secret(tx, organizationId, userId);
    if (!stored) return null;
    const { sealedSecret, mfaEnabled } = stored;
    const dataKey = unwrapDataKey(this.masterKeys, stored.dataKey);
    const secret = openField(dataKey, bindingOf(organizationId, userId), sealedSecret);
    return { secret, sealedSecret, mfaEnabled };
  }
}

/** A secret opens for its user alone. */
const bindingOf = (organizationId: OrganizationId, ownerId: string): FieldBinding => ({
  organizationId,
  ownerId,
  field: 'mfa-secret',
});
