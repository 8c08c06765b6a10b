import { Injectable } from '@nestjs/common';
import { type AuditEventType, Database, type Tx } from '#entities';
import { AuditStore } from '#tenant-store';
import type { Principal } from '#guards';
import { auditActor } from '../audit/audit-actor';
import { LockOut, signedInCounter } from '../lock-out/lock-out';
import { badRequest, type ApiError } from '../errors';

/** What people do to their second factor, which takes a code: done, or failed, it is recorded. */
@Injectable()
export class ProvenActions {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditStore,
    private readonly lockOut: LockOut,
  ) {}

  /**
   * Does and records what needs a code.
   * @param work returns null when the code is wrong
   * @throws ApiError 400 when the code is wrong, 429 after many wrong ones
   */
  async withCode<T>(
    principal: Principal,
    eventType: AuditEventType,
    callerAddress: string | null,
    work: (tx: Tx) => Promise<T | null>,
  ): Promise<T> {
    const attempt = await this.lockOut.attempt(signedInCounter('code', principal.userId));
    const record = {
      ...auditActor(principal, callerAddress),
      eventType,
      resourceType: 'USER',
      resourceId: principal.userId,
      resourceName: principal.email,
    };
    const done = await this.database.transaction(async (tx) => {
      const result = await work(tx);
      if (result !== null) await this.audit.write(tx, principal.organizationId, record);
      return result;
    });
    if (done !== null) {
      await this.lockOut.succeeded(attempt);
      return done;
    }
    const errorMessage = 'The code is wrong or was used before';
    const failure = { ...record, result: 'FAILURE', errorMessage } as const;
    await this.audit.write(this.database.autocommit, principal.organizationId, failure);
    throw wrongCode();
  }
}

const wrongCode = (): ApiError =>
  badRequest('The code is wrong or was used before: wait for the next one', {
    code: 'is wrong or was used before',
  });
