import { Injectable } from '@nestjs/common';
import { type AuditEntry, type AuditEventType, Database, type Tx } from '#entities';
import { AuditStore } from '#tenant-store';
import type { OrganizationId } from '#rules';

/** The account a deed is about, as far as it is known before somebody is signed in. */
export interface AccountName {
  readonly userId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
}

const MAX_REFUSALS_A_MINUTE = 10;

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

  /** As `failed`, for what somebody may send on and on: no more of it than a person would. */
  async refused(
    eventType: AuditEventType,
    account: AccountName,
    callerAddress: string | null,
    errorMessage: string,
  ): Promise<void> {
    const entry = {
      ...entryOf(eventType, account, callerAddress),
      result: 'FAILURE' as const,
      errorMessage,
    };
    await this.audit.writeRefusal(
      this.database.autocommit,
      account.organizationId,
      entry,
      MAX_REFUSALS_A_MINUTE,
    );
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
