import { Injectable } from '@nestjs/common';
import type { Slice, Sliced, Tx } from '#entities';
import type { Principal } from '#guards';
import { type IdentityProviderRow, type UserIdentityRow, Tenants } from '#tenant-store';
import { recordAction, objectNamed } from '../audit/action-records';
import { notFound, notPossible, type ApiError } from '../errors';
import type { Actor } from '../http/actor';
import { missingProvider } from './identity-providers.service';

/** Who the subjects of an issuer are: as they signed in, and as administrators say. */
@Injectable()
export class LinkedIdentities {
  constructor(private readonly stores: Tenants) {}

  async list(
    { organizationId }: Principal,
    providerId: string,
    slice: Slice,
  ): Promise<Sliced<UserIdentityRow>> {
    const tx = this.stores.autocommit;
    if (!(await this.stores.identityProviders.find(tx, organizationId, providerId)))
      throw missingProvider(providerId);
    return this.stores.userIdentities.list(tx, organizationId, providerId, slice);
  }

  /** @throws ApiError 404; 400 for an inactive or a service user, and for an identity of another user */
  link(actor: Actor, providerId: string, id: string, userId: string): Promise<UserIdentityRow> {
    const { organizationId } = actor.principal;
    return this.changing(actor, providerId, id, async (tx, provider, before) => {
      const user = await this.stores.users.find(tx, organizationId, userId);
      if (!user) throw notFound(`User ${userId} does not exist`);
      if (before.userId !== null && before.userId !== user.id)
        throw notPossible(`The identity is linked to ${before.userEmail}: unlink it first`);
      if (!(await this.stores.userIdentities.link(tx, organizationId, id, user.id, actor.principal.userId)))
        throw notPossible(
          'Only active users who are people sign in: set isActive first, or choose another user',
        );
      await this.record(tx, actor, 'IDENTITY_LINKED', { provider, before }, user);
      return { ...before, userId: user.id, userEmail: user.email };
    });
  }

  /** Ends the sign-ins by it. @throws ApiError 404 */
  unlink(actor: Actor, providerId: string, id: string): Promise<void> {
    const { organizationId } = actor.principal;
    return this.changing(actor, providerId, id, async (tx, provider, before) => {
      await this.stores.ssoSignIns.endOfIdentity(tx, organizationId, id);
      await this.stores.userIdentities.delete(tx, organizationId, providerId, id);
      const { userId, userEmail } = before;
      const user = userId === null ? null : { id: userId, email: userEmail };
      await this.record(tx, actor, 'IDENTITY_UNLINKED', { provider, before }, user);
    });
  }

  private changing<T>(
    { principal: { organizationId } }: Actor,
    providerId: string,
    id: string,
    change: (tx: Tx, provider: IdentityProviderRow, before: UserIdentityRow) => Promise<T>,
  ): Promise<T> {
    return this.stores.transaction(async (tx) => {
      const provider = await this.stores.identityProviders.findLocked(tx, organizationId, providerId);
      if (!provider) throw missingProvider(providerId);
      const before = await this.stores.userIdentities.findLocked(tx, organizationId, providerId, id);
      if (!before) throw missing(id);
      return change(tx, provider, before);
    });
  }

  private record(
    tx: Tx,
    actor: Actor,
    eventType: 'IDENTITY_LINKED' | 'IDENTITY_UNLINKED',
    { provider, before }: { readonly provider: IdentityProviderRow; readonly before: UserIdentityRow },
    user: { readonly id: string; readonly email: string | null } | null,
  ): Promise<void> {
    const details = { subject: before.subject, userId: user?.id ?? null, userEmail: user?.email ?? null };
    return recordAction(tx, actor, eventType, objectNamed('IDENTITY_PROVIDER', provider), details);
  }
}

const missing = (id: string): ApiError => notFound(`Identity ${id} does not exist`);
