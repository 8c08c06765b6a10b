import type { OrganizationId, Tier } from '#rules';
import type { Scope } from './scopes';

export type PlatformRole = 'CUSTOMER' | 'SUPPORT' | 'SUPER_ADMIN';

/** How a bearer came by the token. */
export interface SignIn {
  /** of the family of refresh tokens that descends from it */
  readonly id: string;
  /** without the second factor the organization asks for: good for setting it up, and for nothing else */
  readonly mfaSetupOnly: boolean;
}

/** Who a request comes from, as the database knew it when the request came. A key acts as its user, never beyond. */
export interface Principal {
  readonly kind: 'user' | 'key';
  readonly userId: string;
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly name: string;
  readonly isOrgAdmin: boolean;
  readonly platformRole: PlatformRole;
  readonly mfaEnabled: boolean;
  readonly organizationName: string;
  readonly organizationSlug: string;
  readonly tier: Tier;
  /** a suspended organization still reads, stops and removes; what opens or widens anything is refused */
  readonly suspended: boolean;
  readonly keyId: string | null;
  readonly keyName: string | null;
  /** empty for a user: scopes limit keys only */
  readonly scopes: readonly Scope[];
  /** null for a key */
  readonly signIn: SignIn | null;
}

/**
 * The port through which every request's principal is read afresh, so that a deactivated user, a lost right, a
 * revoked key or a suspension counts from the next request on.
 */
export abstract class PrincipalLookup {
  /**
   * @returns null when there is no such active user in that organization, or the sign-in has ended; `signIn` is the
   *   token's to say
   */
  abstract ofUser(userId: string, organizationId: string, signInId: string): Promise<Principal | null>;

  /**
   * @param callerAddress where the key was used from, to be noted
   * @returns null when the key is unknown, revoked or expired, or its user inactive
   */
  abstract ofApiKey(keyHash: string, callerAddress: string | null): Promise<Principal | null>;
}
