import { Injectable } from '@nestjs/common';
import { AuditStore, Database, type AuditEntry, type AuditEventType, type Tx } from '#entities';
import type { OrganizationId } from '#rules';

/** The account a deed is about, as far as it is known before somebody is signed in. */
export interface AccountName {
  readonly userId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
}

/** Records what people do to their own accounts, and what is tried at them. */
@Injectable()
export class AccountAudit {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditStore,
  ) {}

  done(tx: Tx, eventType: AuditEventType, account: AccountName, callerAddress: string | null): Promise<void> {
    return this.audit.write(tx, account.organizationId, entryOf(eventType, account, callerAddress));
  }

  /** A failed attempt is no change, so it has a transaction of its own. */
  async failed(
    eventType: AuditEventType,
    account: AccountName,
    callerAddress: string | null,
    errorMessage: string,
  ): Promise<void> {
    await this.audit.write(this.database.autocommit, account.organizationId, {
      ...entryOf(eventType, account, callerAddress),
      result: 'FAILURE',
      errorMessage,
    });
  }

  /** The account is refused for a while from now on. */
  lockedOut(account: AccountName, callerAddress: string | null, failures: number): Promise<void> {
    const words = `${failures} attempts failed one after the other`;
    return this.failed('USER_LOCKED_OUT', account, callerAddress, words);
  }
}

const entryOf = (
  eventType: AuditEventType,
  { userId, email }: AccountName,
  callerAddress: string | null,
): AuditEntry => ({
  eventType,
  actorType: 'USER',
  actorId: userId,
  actorEmail: email,
  ipAddress: callerAddress,
  resourceType: 'USER',
  resourceId: userId,
  resourceName: email,
});
