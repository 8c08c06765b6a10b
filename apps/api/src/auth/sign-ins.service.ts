import { Injectable } from '@nestjs/common';
import { Database, type Slice, type Sliced } from '#entities';
import { AuditStore, type SignInRow, SignInStore } from '#tenant-store';
import type { Principal } from '#guards';
import { auditActor } from '../audit/audit-actor';
import { notFound } from '../errors';

/** Where a user is signed in. */
@Injectable()
export class SignInsService {
  constructor(
    private readonly database: Database,
    private readonly signIns: SignInStore,
    private readonly audit: AuditStore,
  ) {}

  list({ organizationId, userId }: Principal, slice: Slice): Promise<Sliced<SignInRow>> {
    return this.signIns.list(this.database.autocommit, organizationId, userId, slice);
  }

  /**
   * Ends one of the caller's own sign-ins: its access tokens stop with the next request.
   * @throws ApiError 404 for one that has ended, and for somebody else's
   */
  async end(principal: Principal, id: string, callerAddress: string | null): Promise<void> {
    const { organizationId, userId, email } = principal;
    await this.database.transaction(async (tx) => {
      if (!(await this.signIns.end(tx, organizationId, userId, id))) {
        throw notFound(`Sign-in ${id} does not exist`);
      }
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, callerAddress),
        eventType: 'SIGN_IN_ENDED',
        resourceType: 'USER',
        resourceId: userId,
        resourceName: email,
        details: { signInId: id },
      });
    });
  }
}
