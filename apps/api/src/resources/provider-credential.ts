import { DriverRegistry, type AccountShape } from '#drivers';
import type { Tx } from '#entities';
import {
  MAX_ACCOUNTS_IN_USE,
  type CredentialRow,
  type LockedCredential,
  type ResourceRow,
  type TenantStores,
} from '#tenant-store';
import type { OrganizationId } from '#rules';
import { badRequest, notFound, notPossible } from '../errors/api-error';
import { accountOf, checkedType, type NamedResource } from './resource-naming';

/** How a resource is reached. */
interface ResourceAccess {
  /** of the credential in its account, which locate its target */
  readonly hints: CredentialRow['hints'];
  /** null: not known */
  readonly account: string | null;
  /** of the credential, or of its row for the account */
  readonly accessId: string;
}

/** The account that a request names, and what the resource has by now. */
interface AskedAccount {
  readonly given: string | undefined;
  /** null: it is new */
  readonly now: Pick<ResourceRow, 'credentialId' | 'account' | 'accessId'> | null;
  /** it is reached as before: nothing that the request changes says where it is */
  readonly stays: boolean;
}

/**
 * Locks the credential of a resource, and finds the account that it is in.
 * @throws ApiError 404 when the organization has no such credential, 400 when it belongs to another provider, or the account
 *   is missing or contradicts the credential or the identifier
 */
export async function lockAccess(
  stores: Pick<TenantStores, 'credentials' | 'cloudAccounts'>,
  tx: Tx,
  organization: OrganizationId,
  credentialId: string,
  named: NamedResource,
  asked: AskedAccount,
): Promise<ResourceAccess> {
  const credential = await stores.credentials.lock(tx, organization, credentialId);
  if (!credential) throw notFound(`Credential ${credentialId} does not exist`, 'CREDENTIAL_NOT_FOUND');
  if (credential.provider !== named.provider)
    throw badRequest(
      `credentialId names a credential for ${credential.provider}, not for ${named.provider}`,
      { credentialId: `must name a credential for ${named.provider}` },
    );
  const shape = accountShapeOf(credential);
  const { hints } = credential;
  const { now, stays } = asked;
  const own = shape?.of(hints) ?? null;
  const former = now?.account ?? null;
  // of another credential its own account comes first
  const usual = now?.credentialId === credentialId ? (former ?? own) : (own ?? former);
  const account = accountOf(named, checkedType(named), shape, { given: asked.given, own, usual });
  const inAccount = !shape || account === null || account === own ? hints : shape.fill(hints, account);
  if (now && stays) return { hints: inAccount, account: now.account, accessId: now.accessId };
  if (account !== null) await stores.cloudAccounts.note(tx, organization, credentialId, account);
  if (account === null || inAccount === hints) return { hints, account, accessId: credential.id };
  const accessId = await stores.cloudAccounts.use(tx, organization, credentialId, account);
  if (accessId === null)
    throw notPossible(
      `The credential is in use in ${MAX_ACCOUNTS_IN_USE} accounts, as many as it may: make another one for the others`,
    );
  return { hints: inAccount, account, accessId };
}

const accountShapeOf = ({ provider, credentialType }: LockedCredential): AccountShape | undefined =>
  DriverRegistry.facts(provider).credentialTypes[credentialType]?.account;
