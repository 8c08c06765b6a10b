import { Injectable } from '@nestjs/common';
import { Database, type Slice, type Sliced } from '#entities';
import { type SignInRow, TenantStores } from '#tenant-store';
import type { Principal } from '#guards';
import { ActionRecords, objectNamed } from '../audit/action-records';
import { notFound } from '../errors';
import type { Actor } from '../http/actor';

/** The sign-ins of a user. */
@Injectable()
export class SignInsService {
  constructor(
    private readonly database: Database,
    private readonly stores: TenantStores,
    private readonly records: ActionRecords,
  ) {}

  list({ organizationId, userId }: Principal, slice: Slice): Promise<Sliced<SignInRow>> {
    return this.stores.signIns.list(this.database.autocommit, organizationId, userId, slice);
  }

  /**
   * Ends one of the caller's own sign-ins: its access tokens are invalid from the next request on.
   * @throws ApiError 404 when it has ended or belongs to another user
   */
  async end(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    const { organizationId, userId, email } = principal;
    await this.database.closing.transaction(async (tx) => {
      if (!(await this.stores.signIns.end(tx, organizationId, userId, id))) {
        throw notFound(`Sign-in ${id} does not exist`);
      }
      await this.records.record(
        tx,
        actor,
        'SIGN_IN_ENDED',
        objectNamed('USER', { id: userId, name: email }),
        {
          signInId: id,
        },
      );
    });
  }
}
