import { Injectable } from '@nestjs/common';
import type { AccountShape } from '#drivers';
import type { ListQuery, Sliced, Tx } from '#entities';
import type { Principal } from '#guards';
import { MAX_LISTED_ACCOUNTS, type CloudAccountRow, type CredentialRow, Tenants } from '#tenant-store';
import { recordAction, objectNamed } from '../audit/action-records';
import { badRequest, invalidField, notFound, notPossible, tooManyRequests } from '../errors';
import type { Actor } from '../http/actor';
import { shapeOf } from './credential-fields';
import { CredentialVerifier } from './credential-verifier';
import { CredentialsService } from './credentials.service';

const A_MINUTE_SECONDS = 60;

/** The accounts that one credential reaches. */
@Injectable()
export class CloudAccountsService {
  constructor(
    private readonly stores: Tenants,
    private readonly credentials: CredentialsService,
    private readonly verifier: CredentialVerifier,
  ) {}

  async list(principal: Principal, id: string, query: ListQuery): Promise<Sliced<CloudAccountRow>> {
    await this.credentials.find(principal, id);
    const { autocommit } = this.stores;
    return this.stores.cloudAccounts.list(autocommit, principal.organizationId, id, query);
  }

  /** @param label null: that of the provider; undefined: it stays */
  async label(
    actor: Actor,
    id: string,
    account: string,
    label: string | null | undefined,
  ): Promise<CloudAccountRow> {
    const credential = await this.credentials.find(actor.principal, id);
    const { pattern, example } = accountShape(credential);
    if (!pattern.test(account)) throw invalidField('account', `must look like ${example}`);
    const { organizationId } = actor.principal;
    return this.stores.transaction(async (tx) => {
      if (label !== undefined) {
        const { cloudAccounts } = this.stores;
        if (!(await cloudAccounts.label(tx, organizationId, id, account, label)))
          throw notPossible(`A credential has at most ${MAX_LISTED_ACCOUNTS} accounts`);
        const object = objectNamed('CREDENTIAL', credential);
        await recordAction(tx, actor, 'CREDENTIAL_UPDATED', object, { account, label });
      }
      return (await this.find(tx, actor, id, account)) ?? { ...NOTHING_KNOWN, account };
    });
  }

  /** @throws ApiError 429 within a minute after the last time, 400 where the provider cannot be asked */
  async refresh(actor: Actor, id: string): Promise<void> {
    const credential = await this.credentials.find(actor.principal, id);
    if (!accountShape(credential).isListed(credential.hints))
      throw badRequest(
        'The credential has no listingRoleArn: give it one with PATCH, or label the accounts here',
      );
    await this.stores.transaction(async (tx) => {
      const { organizationId } = actor.principal;
      if (!(await this.stores.cloudAccounts.requestList(tx, organizationId, id)))
        throw tooManyRequests('The accounts were asked for within the last minute', A_MINUTE_SECONDS);
      const object = objectNamed('CREDENTIAL', credential);
      await recordAction(tx, actor, 'CREDENTIAL_UPDATED', object, { accounts: 'refresh' });
    });
  }

  /** Checks the credential in one account. A refusal is recorded with the account, not thrown. */
  async verify(actor: Actor, id: string, account: string): Promise<CloudAccountRow> {
    const { principal } = actor;
    const credential = await this.credentials.find(principal, id);
    const own = accountShape(credential).of(credential.hints) === account;
    const { autocommit, cloudAccounts } = this.stores;
    const row = await cloudAccounts.rowOf(autocommit, principal.organizationId, id, account);
    if (row === null && !own)
      throw notFound(`No resource uses the credential in ${account}: create one first`, 'ACCOUNT_NOT_FOUND');
    await this.credentials.check(actor, row ?? id, credential, { account });
    return (await this.find(this.stores.autocommit, actor, id, account)) ?? { ...NOTHING_KNOWN, account };
  }

  private find(tx: Tx, { principal }: Actor, id: string, account: string): Promise<CloudAccountRow | null> {
    return this.stores.cloudAccounts.find(tx, principal.organizationId, id, account);
  }
}

const NOTHING_KNOWN: Omit<CloudAccountRow, 'account'> = {
  label: null,
  listedState: null,
  resources: 0,
  isValid: null,
  lastVerifiedAt: null,
  verificationError: null,
};

/** @throws ApiError 400 when nothing tells which account the credential is of */
function accountShape({ provider, credentialType }: CredentialRow): AccountShape {
  const { account } = shapeOf(provider, credentialType);
  if (account) return account;
  throw badRequest('The credential does not tell which account it is of');
}
