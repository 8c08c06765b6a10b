import type { CredentialStore, Tx } from '#entities';
import type { OrganizationId, Provider } from '#rules';
import { badRequest, notFound } from '../errors/api-error';

/** @throws ApiError 404 when the organization has no such credential, 400 when it is another provider's */
export async function checkFittingCredential(
  credentials: CredentialStore,
  tx: Tx,
  organization: OrganizationId,
  id: string,
  provider: Provider,
): Promise<void> {
  const credential = await credentials.find(tx, organization, id);
  if (!credential) throw notFound(`Credential ${id} does not exist`, 'CREDENTIAL_NOT_FOUND');
  if (credential.provider === provider) return;
  throw badRequest(`credentialId names a credential for ${credential.provider}, not for ${provider}`, {
    credentialId: `must name a credential for ${provider}`,
  });
}
