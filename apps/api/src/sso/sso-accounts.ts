import { Injectable } from '@nestjs/common';
import { type AuditEventType, SYSTEM_ACTOR, type Tx } from '#entities';
import type { WokenTargets } from '#engine-store/port';
import type { IssuerClaims } from '#sso';
import {
  AuditStore,
  GroupRolesStore,
  IdentityProviderStore,
  type SealedIdentityProvider,
  UserIdentityStore,
  type UserRow,
  UserStore,
} from '#tenant-store';
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

/** Finds the accounts of identities, and makes them what their groups say. */
@Injectable()
export class SsoAccounts {
  constructor(
    private readonly users: UserStore,
    private readonly identities: UserIdentityStore,
    private readonly providers: IdentityProviderStore,
    private readonly groupRoles: GroupRolesStore,
    private readonly plans: Plans,
    private readonly audit: AuditStore,
  ) {}

  /**
   * An identity is its provider's subject, whose account an administrator or the first sign-in decides. The e-mail address
   * joins nothing but an invitation that nobody has accepted, and only where the provider is authoritative for its domain.
   */
  async join(tx: Tx, provider: SealedIdentityProvider, claims: IssuerClaims): Promise<JoinedAccount> {
    const { organizationId, id: providerId } = provider;
    // serializes first sign-ins: two identities do not get one account
    await this.users.lock(tx, organizationId);
    const identity = await this.identities.seen(tx, organizationId, providerId, claims);
    const { id: identityId } = identity;
    const userId = identity.userId ?? (await this.firstAccount(tx, provider, identityId, claims));
    if (userId === null) {
      await this.identities.trimWaiting(tx, organizationId, providerId);
      const reason = `No account is linked to the identity ${claims.subject} (${claims.email ?? 'without e-mail'})${
        claims.problem === null ? '' : `: ${claims.problem}`
      }`;
      return { identityId, refusal: { code: 'not-linked', reason }, woken: [] };
    }
    const user = await this.users.find(tx, organizationId, userId);
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
  ): Promise<string | null> {
    const email = vouchedEmail(provider, claims);
    if (email === null) return null;
    const { organizationId } = provider;
    const invited = await this.identities.invited(tx, organizationId, email);
    const userId = invited ?? (await this.create(tx, provider, email, claims.name));
    if (userId === null || !(await this.identities.link(tx, organizationId, identityId, userId))) return null;
    await this.record(tx, provider, 'IDENTITY_LINKED', userId, email, { subject: claims.subject });
    return userId;
  }

  /** @returns null when the provider creates none, the address has an account, or the plan has no room */
  private async create(
    tx: Tx,
    provider: SealedIdentityProvider,
    email: string,
    name: string | null,
  ): Promise<string | null> {
    const { organizationId } = provider;
    if (!provider.createUsers) return null;
    if (!(await this.users.hasRoom(tx, organizationId, this.plans.tierOf))) return null;
    const userId = await this.users.create(tx, organizationId, {
      email,
      name: name ?? email.slice(0, email.indexOf('@')),
      isOrgAdmin: false,
      passwordHash: null,
    });
    if (userId !== null)
      await this.record(tx, provider, 'USER_CREATED', userId, email, { isOrgAdmin: false });
    return userId;
  }

  private async applyGroups(
    tx: Tx,
    provider: SealedIdentityProvider,
    { id, email }: UserRow,
    { groups, subject, problem }: IssuerClaims,
  ): Promise<WokenTargets[]> {
    const { organizationId } = provider;
    await this.providers.recordError(tx, organizationId, provider.id, null);
    await this.identities.recordClaimsError(tx, organizationId, provider.id, { subject, problem });
    if (groups === null) return [];
    return this.groupRoles.apply(tx, organizationId, provider, { id, email, groups });
  }

  private record(
    tx: Tx,
    { organizationId, name: identityProvider }: SealedIdentityProvider,
    eventType: AuditEventType,
    userId: string,
    email: string,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    return this.audit.write(tx, organizationId, {
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
