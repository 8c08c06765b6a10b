import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { type PrincipalRow, Tenants } from '#tenant-store';
import { isScope, PrincipalLookup, type Principal, type WorkloadClaims } from '#guards';
import { Plans } from '../plans/plans';

/** Reads principals from the database, on the connections for closing: every stop needs one. */
@Injectable()
export class StoredPrincipals extends PrincipalLookup {
  constructor(
    private readonly stores: Tenants,
    private readonly plans: Plans,
  ) {
    super();
  }

  override async ofUser(userId: string, organizationId: string, signInId: string): Promise<Principal | null> {
    const tx = this.stores.closing.autocommit;
    const principal = this.principalOf(
      await this.stores.accounts.principalOfSignIn(tx, userId, organizationId, signInId),
    );
    // an organization's administrators choose who vouches for whom: they must not make operators of the platform
    return principal?.companySignIn === 'used' ? { ...principal, platformRole: 'CUSTOMER' } : principal;
  }

  override async ofWorkload(claims: WorkloadClaims): Promise<Principal | null> {
    const { trustId, organizationId, userId, revision } = claims;
    const tx = this.stores.closing.autocommit;
    return this.principalOf(
      await this.stores.accounts.principalOfWorkload(tx, trustId, organizationId, userId, revision),
    );
  }

  /** Without its user's rights as an administrator: a token in a job's hands is for one session. */
  override async ofSession(tokenHash: string): Promise<Principal | null> {
    const principal = this.principalOf(
      await this.stores.accounts.principalOfSession(this.stores.closing.autocommit, tokenHash),
    );
    return principal && { ...principal, isOrgAdmin: false, platformRole: 'CUSTOMER' };
  }

  override async ofApiKey(keyHash: string, callerAddress: string | null): Promise<Principal | null> {
    return this.principalOf(
      await this.stores.accounts.principalOfKey(this.stores.closing.autocommit, keyHash, callerAddress),
    );
  }

  /** Of an account that is signing in. @returns null when it is gone, or inactive */
  async ofAccount(tx: Tx, userId: string, organizationId: string): Promise<Principal | null> {
    return this.principalOf(await this.stores.accounts.principalOfUser(tx, userId, organizationId));
  }

  /** Drops scopes that this version does not know. */
  private principalOf(row: PrincipalRow | null): Principal | null {
    if (!row) return null;
    const { scopes, tier } = row;
    return { ...row, scopes: scopes.filter(isScope), tier: this.plans.tierOf(tier), signIn: null };
  }
}
