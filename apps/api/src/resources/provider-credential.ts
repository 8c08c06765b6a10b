import type { Tx } from '#entities';
import type { CredentialRow, CredentialStore } from '#tenant-store';
import type { OrganizationId, Provider } from '#rules';
import { badRequest, notFound } from '../errors/api-error';

/**
 * Locks the credential of a resource.
 * @returns its hints, which locate the credential's targets
 * @throws ApiError 404 when the organization has no such credential, 400 when it belongs to another provider
 */
export async function lockProviderCredential(
  credentials: CredentialStore,
  tx: Tx,
  organization: OrganizationId,
  id: string,
  provider: Provider,
): Promise<CredentialRow['hints']> {
  const found = await credentials.lock(tx, organization, id);
  if (!found) throw notFound(`Credential ${id} does not exist`, 'CREDENTIAL_NOT_FOUND');
  if (found.provider === provider) return found.hints;
  throw badRequest(`credentialId names a credential for ${found.provider}, not for ${provider}`, {
    credentialId: `must name a credential for ${provider}`,
  });
}
