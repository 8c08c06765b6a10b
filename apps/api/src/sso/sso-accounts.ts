import { Injectable } from '@nestjs/common';
import { type AuditEventType, SYSTEM_ACTOR, type Tx } from '#entities';
import type { WokenTargets } from '#engine-store/port';
import type { IssuerClaims } from '#sso';
import { type SealedIdentityProvider, TenantStores, type UserRow } from '#tenant-store';
import { Plans } from '../plans/plans';
import type { SignInError } from './return-place';

/** Whose account an issuer's answer is about. */
export interface JoinedAccount {
  readonly identityId: string;
  /** null: the person may sign in */
  readonly refusal: { readonly code: SignInError; readonly reason: string } | null;
  /** the targets of access that ended with a group */
  readonly woken: readonly WokenTargets[];
}

/** There is no account, and why none was made; null: nothing but that. */
interface Missing {
  readonly missing: string | null;
}

/** Finds the accounts of identities, and makes them what their groups say. */
@Injectable()
export class SsoAccounts {
  constructor(
    private readonly stores: TenantStores,
    private readonly plans: Plans,
  ) {}

  /**
   * An identity is its provider's subject, whose account an administrator or the first sign-in decides. The e-mail address
   * joins nothing but an invitation that is not accepted yet, and only where the provider is authoritative for its domain.
   */
  async join(tx: Tx, provider: SealedIdentityProvider, claims: IssuerClaims): Promise<JoinedAccount> {
    const { organizationId, id: providerId } = provider;
    // serializes first sign-ins: two identities do not get one account
    await this.stores.users.lock(tx, organizationId);
    const identity = await this.stores.userIdentities.recordSubject(tx, organizationId, providerId, claims);
    const { id: identityId } = identity;
    const account = identity.userId ?? (await this.firstAccount(tx, provider, identityId, claims));
    if (typeof account === 'object') {
      await this.stores.userIdentities.trimWaiting(tx, organizationId, providerId);
      const who = `${claims.subject} (${claims.email ?? claims.username ?? 'without e-mail'})`;
      const why = [account.missing, claims.problem].filter((one) => one !== null).join('; ');
      const reason = `No account is linked to the identity ${who}${why === '' ? '' : `: ${why}`}`;
      return { identityId, refusal: { code: 'not-linked', reason }, woken: [] };
    }
    const userId = account;
    if (identity.userId !== null) await this.readdress(tx, provider, identityId, userId, claims);
    const user = await this.stores.users.find(tx, organizationId, userId);
    if (!user?.isActive) {
      const reason = `The account of ${user?.email ?? claims.subject} is not active`;
      return { identityId, refusal: { code: 'not-active', reason }, woken: [] };
    }
    return { identityId, refusal: null, woken: await this.applyGroups(tx, provider, user, claims) };
  }

  private async firstAccount(
    tx: Tx,
    provider: SealedIdentityProvider,
    identityId: string,
    claims: IssuerClaims,
  ): Promise<string | Missing> {
    const email = vouchedEmail(provider, claims);
    if (email === null) return { missing: null };
    const { organizationId } = provider;
    const invited = await this.stores.userIdentities.findInvited(tx, organizationId, email);
    const userId = invited ?? (await this.create(tx, provider, email, claims.name));
    if (typeof userId === 'object') return userId;
    if (!(await this.stores.userIdentities.link(tx, organizationId, identityId, userId)))
      return { missing: null };
    await this.record(tx, provider, 'IDENTITY_LINKED', { id: userId, email }, { subject: claims.subject });
    return userId;
  }

  /** Takes over an address that has changed at the issuer. */
  private async readdress(
    tx: Tx,
    provider: SealedIdentityProvider,
    identityId: string,
    userId: string,
    claims: IssuerClaims,
  ): Promise<void> {
    const email = vouchedEmail(provider, claims);
    if (email === null) return;
    const former = await this.stores.userIdentities.readdress(tx, provider.organizationId, identityId, email);
    if (former === null) return;
    const changed = { email: { from: former, to: email } };
    await this.record(tx, provider, 'USER_UPDATED', { id: userId, email }, { changed });
  }

  private async create(
    tx: Tx,
    provider: SealedIdentityProvider,
    email: string,
    name: string | null,
  ): Promise<string | Missing> {
    const { organizationId } = provider;
    if (!provider.createUsers) return { missing: null };
    if (!(await this.stores.users.hasRoom(tx, organizationId, this.plans.tierOf)))
      return { missing: 'the plan has no room for another user' };
    const userId = await this.stores.users.create(tx, organizationId, {
      email,
      name: name ?? email.slice(0, email.indexOf('@')),
      isOrgAdmin: false,
      passwordHash: null,
    });
    if (userId === null) return { missing: 'another account has the address' };
    await this.record(tx, provider, 'USER_CREATED', { id: userId, email }, { isOrgAdmin: false });
    return userId;
  }

  private async applyGroups(
    tx: Tx,
    provider: SealedIdentityProvider,
    { id, email }: UserRow,
    { groups, subject, problem }: IssuerClaims,
  ): Promise<WokenTargets[]> {
    const { organizationId } = provider;
    await this.stores.identityProviders.recordError(tx, organizationId, provider.id, null);
    await this.stores.userIdentities.recordClaimsError(tx, organizationId, provider.id, { subject, problem });
    if (groups === null) return [];
    return this.stores.groupRoles.apply(tx, organizationId, provider, { id, email, groups });
  }

  private record(
    tx: Tx,
    { organizationId, name: identityProvider }: SealedIdentityProvider,
    eventType: AuditEventType,
    { id: userId, email }: { readonly id: string; readonly email: string },
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    return this.stores.audit.write(tx, organizationId, {
      ...SYSTEM_ACTOR,
      eventType,
      resourceType: 'USER',
      resourceId: userId,
      resourceName: email,
      details: { ...details, identityProvider },
    });
  }
}

/** The address, if the provider is authoritative for its domain and says that it is the person's. */
function vouchedEmail(
  { emailDomains }: SealedIdentityProvider,
  { email, emailVerified }: IssuerClaims,
): string | null {
  if (email === null || !emailVerified) return null;
  return emailDomains.includes(email.slice(email.lastIndexOf('@') + 1)) ? email : null;
}
