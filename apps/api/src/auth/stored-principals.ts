import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { AccountStore, type PrincipalRow } from '#tenant-store';
import { isScope, PrincipalLookup, type Principal, type WorkloadClaims } from '#guards';

/** Reads principals from the database, on the connections for closing: every stop needs one. */
@Injectable()
export class StoredPrincipals extends PrincipalLookup {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
  ) {
    super();
  }

  override async ofUser(userId: string, organizationId: string, signInId: string): Promise<Principal | null> {
    const tx = this.database.closing.autocommit;
    return principalOf(await this.accounts.principalOfSignIn(tx, userId, organizationId, signInId));
  }

  override async ofWorkload(claims: WorkloadClaims): Promise<Principal | null> {
    const { trustId, organizationId, userId, revision } = claims;
    const tx = this.database.closing.autocommit;
    return principalOf(
      await this.accounts.principalOfWorkload(tx, trustId, organizationId, userId, revision),
    );
  }

  /** Without its user's rights as an administrator: a token in a job's hands is for one session. */
  override async ofSession(tokenHash: string): Promise<Principal | null> {
    const principal = principalOf(
      await this.accounts.principalOfSession(this.database.closing.autocommit, tokenHash),
    );
    return principal && { ...principal, isOrgAdmin: false, platformRole: 'CUSTOMER' };
  }

  override async ofApiKey(keyHash: string, callerAddress: string | null): Promise<Principal | null> {
    return principalOf(
      await this.accounts.principalOfKey(this.database.closing.autocommit, keyHash, callerAddress),
    );
  }
}

/** Drops scopes that this version does not know. */
export const principalOf = (row: PrincipalRow | null): Principal | null =>
  row && { ...row, scopes: row.scopes.filter(isScope), signIn: null };
