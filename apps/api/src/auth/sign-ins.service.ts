import { Injectable } from '@nestjs/common';
import type { Slice, Sliced } from '#entities';
import { type SignInRow, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { recordAction, objectNamed } from '../audit/action-records';
import { notFound } from '../errors';
import type { Actor } from '../http/actor';

@Injectable()
export class SignInsService {
  constructor(private readonly stores: Tenants) {}

  list({ organizationId, userId }: Principal, slice: Slice): Promise<Sliced<SignInRow>> {
    return this.stores.signIns.list(this.stores.autocommit, organizationId, userId, slice);
  }

  /**
   * Ends one of the caller's own sign-ins: its access tokens are invalid from the next request on.
   * @throws ApiError 404 when it has ended or belongs to another user
   */
  async end(actor: Actor, id: string): Promise<void> {
    const { principal } = actor;
    const { organizationId, userId, email } = principal;
    await this.stores.closing.transaction(async (tx) => {
      if (!(await this.stores.signIns.end(tx, organizationId, userId, id))) {
        throw notFound(`Sign-in ${id} does not exist`);
      }
      await recordAction(tx, actor, 'SIGN_IN_ENDED', objectNamed('USER', { id: userId, name: email }), {
        signInId: id,
      });
    });
  }
}
