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
  const found = await credentials.lockProvider(tx, organization, id);
  if (!found) throw notFound(`Credential ${id} does not exist`, 'CREDENTIAL_NOT_FOUND');
  if (found === provider) return;
  throw badRequest(`credentialId names a credential for ${found}, not for ${provider}`, {
    credentialId: `must name a credential for ${provider}`,
  });
}
