import { Injectable } from '@nestjs/common';
import type { AuditEntry, AuditEventType, Tx } from '#entities';
import { Tenants } from '#tenant-store';
import type { OrganizationId, HostAddress } from '#rules';

/** The account an audit record is about. Known before sign-in is complete. */
export interface AccountName {
  readonly userId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
}

/** Audit records of users' actions on their own accounts and of failed attempts on them. */
@Injectable()
export class AccountAudit {
  constructor(private readonly stores: Tenants) {}

  recordSuccess(
    tx: Tx,
    eventType: AuditEventType,
    account: AccountName,
    address: HostAddress | null,
    details: NonNullable<AuditEntry['details']> = {},
  ): Promise<void> {
    return this.stores.audit.write(tx, account.organizationId, {
      ...entryOf(eventType, account, address),
      details,
    });
  }

  /** Uses its own transaction: a failed attempt changes nothing else. */
  async recordFailure(
    eventType: AuditEventType,
    account: AccountName,
    address: HostAddress | null,
    errorMessage: string,
  ): Promise<void> {
    await this.stores.audit.write(this.stores.autocommit, account.organizationId, {
      ...entryOf(eventType, account, address),
      result: 'FAILURE',
      errorMessage,
    });
  }

  /** As `recordFailure`, with a rate limit, for attempts that can be repeated without bound. */
  async recordThrottledFailure(
    eventType: AuditEventType,
    account: AccountName,
    address: HostAddress | null,
    errorMessage: string,
  ): Promise<void> {
    await this.stores.audit.writeDeniedAction(this.stores.autocommit, account.organizationId, {
      ...entryOf(eventType, account, address),
      result: 'FAILURE',
      errorMessage,
    });
  }

  /** The account is locked temporarily. */
  recordLockOut(account: AccountName, address: HostAddress | null, failures: number): Promise<void> {
    const message = `${failures} attempts failed one after the other`;
    return this.recordFailure('USER_LOCKED_OUT', account, address, message);
  }
}

const entryOf = (
  eventType: AuditEventType,
  { userId, email }: AccountName,
  address: HostAddress | null,
): AuditEntry => ({
  eventType,
  actorType: 'USER',
  actorId: userId,
  actorEmail: email,
  ipAddress: address?.text ?? null,
  resourceType: 'USER',
  resourceId: userId,
  resourceName: email,
});
