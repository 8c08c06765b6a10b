import { Injectable } from '@nestjs/common';
import type { AuditEntry, AuditEventType, Tx } from '#entities';
import { Tenants } from '#tenant-store';
import { auditActor } from '../audit/audit-actor';
import type { Actor } from '../http/actor';
import { LockOut, signedInCounter } from '../lock-out/lock-out';
import { badRequest, type ApiError } from '../errors';

/** Runs actions that require a code of the second factor. Successes and failures are audited. */
@Injectable()
export class CodeProtectedActions {
  constructor(
    private readonly stores: Tenants,
    private readonly lockOut: LockOut,
  ) {}

  /**
   * Runs and records an action that requires a code.
   * @param work returns null when the code is wrong
   * @param object of the records; left out: the caller
   * @throws ApiError 400 when the code is wrong, 429 after too many wrong codes
   */
  async withCode<T>(
    actor: Actor,
    eventType: AuditEventType,
    work: (tx: Tx) => Promise<T | null>,
    object?: Pick<AuditEntry, 'resourceType' | 'resourceId' | 'resourceName'>,
  ): Promise<T> {
    const { principal } = actor;
    const attempt = await this.lockOut.attempt(signedInCounter('code', principal.userId));
    const record = {
      ...auditActor(actor),
      eventType,
      resourceType: 'USER',
      resourceId: principal.userId,
      resourceName: principal.email,
      ...object,
    };
    const done = await this.stores.transaction(async (tx) => {
      const result = await work(tx);
      if (result !== null) await this.stores.audit.write(tx, principal.organizationId, record);
      return result;
    });
    if (done !== null) {
      await this.lockOut.noteSuccess(attempt);
      return done;
    }
    const errorMessage = 'The code is wrong or was used before';
    const failure = { ...record, result: 'FAILURE', errorMessage } as const;
    await this.stores.audit.write(this.stores.autocommit, principal.organizationId, failure);
    throw wrongCode();
  }
}

const wrongCode = (): ApiError =>
  badRequest('The code is wrong or was used before: wait for the next one', {
    code: 'is wrong or was used before',
  });
