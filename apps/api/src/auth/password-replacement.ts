import { Injectable } from '@nestjs/common';
import type { AuditEventType, Tx } from '#entities';
import { type NewPassword, PasswordStore, RefreshTokenStore } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { AccountAudit } from './account-audit';

interface PasswordOwner {
  readonly userId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
}

interface Deed {
  readonly eventType: AuditEventType;
  readonly callerAddress: string | null;
  /** the sign-in that goes on; null: none */
  readonly signInId: string | null;
}

/** Puts a new password in place of the old one, and ends what the old one had opened. */
@Injectable()
export class PasswordReplacement {
  constructor(
    private readonly passwords: PasswordStore,
    private readonly refreshTokens: RefreshTokenStore,
    private readonly audit: AccountAudit,
  ) {}

  /** @returns false when it was not replaced: see `PasswordStore.set` */
  async replace(tx: Tx, owner: PasswordOwner, password: NewPassword, deed: Deed): Promise<boolean> {
    const { organizationId, userId } = owner;
    if (!(await this.passwords.set(tx, organizationId, userId, password))) return false;
    await this.refreshTokens.revokeAllBut(tx, userId, deed.signInId);
    await this.audit.done(tx, deed.eventType, owner, deed.callerAddress);
    return true;
  }
}
