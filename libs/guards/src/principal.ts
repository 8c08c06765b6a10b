import type { CallerAccount } from '#rules';
import type { Scope } from './scopes';

/** The sign-in that a token was issued for. */
export interface SignIn {
  /** id of its family of refresh tokens */
  readonly id: string;
  /** signed in without the required second factor: allows only its set-up */
  readonly mfaSetupOnly: boolean;
}

/** The caller of a request, read from the database for each request. A key never has more rights than its user. */
export interface Principal extends CallerAccount {
  /** empty for a user and for a session: scopes apply to keys and workloads only */
  readonly scopes: readonly Scope[];
  /** null for a key, a workload and a session */
  readonly signIn: SignIn | null;
  /** `used`: an identity provider vouches for the sign-in. `missing`: it must, and does not. null: it need not */
  readonly companySignIn: 'used' | 'missing' | null;
}

/** The trusted claims of a CI job's access token: the service user and the trust. Scopes are read from the database. */
export interface WorkloadClaims {
  readonly userId: string;
  readonly organizationId: string;
  readonly trustId: string;
  /** of the trust when the token was issued: the token is invalid with any other */
  readonly revision: number;
}

/**
 * Port that reads the principal for each request, so that a deactivation, a lost right, a revoked key or a suspension
 * takes effect with the next request.
 */
export abstract class PrincipalLookup {
  /**
   * @returns null when there is no such active user in that organization, or the sign-in has ended; the caller sets
   *   `signIn` from the token
   */
  abstract ofUser(userId: string, organizationId: string, signInId: string): Promise<Principal | null>;

  /** @returns null when the trust is disabled, changed or deleted, or its service user inactive */
  abstract ofWorkload(claims: WorkloadClaims): Promise<Principal | null>;

  /** @returns null when the session has ended, its user is inactive, or the key that started it is revoked or expired */
  abstract ofSession(tokenHash: string): Promise<Principal | null>;

  /**
   * @param callerAddress recorded as the key's last address
   * @returns null when the key is unknown, revoked or expired, or its user inactive
   */
  abstract ofApiKey(keyHash: string, callerAddress: string | null): Promise<Principal | null>;
}
