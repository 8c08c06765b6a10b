import { Injectable } from '@nestjs/common';
import type { AuditEventType, Tx } from '#entities';
import { type NewPassword, TenantStores } from '#tenant-store';
import type { OrganizationId, HostAddress } from '#rules';
import { AccountAudit } from './account-audit';

interface PasswordOwner {
  readonly userId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
}

interface PasswordChange {
  readonly eventType: AuditEventType;
  readonly address: HostAddress | null;
  /** the sign-in that stays valid; null: none */
  readonly signInId: string | null;
}

/** Replaces a password and revokes the sign-ins made with the old one. */
@Injectable()
export class PasswordReplacement {
  constructor(
    private readonly stores: TenantStores,
    private readonly audit: AccountAudit,
  ) {}

  /** @returns false when it was not replaced: see `PasswordStore.set` */
  async replace(
    tx: Tx,
    owner: PasswordOwner,
    password: NewPassword,
    change: PasswordChange,
  ): Promise<boolean> {
    const { organizationId, userId } = owner;
    if (!(await this.stores.passwords.set(tx, organizationId, userId, password))) return false;
    await this.stores.refreshTokens.revokeAllExcept(tx, userId, change.signInId);
    await this.audit.recordSuccess(tx, change.eventType, owner, change.address);
    return true;
  }
}
