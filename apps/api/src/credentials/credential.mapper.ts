import type { Identities } from '#credentials';
import type { CredentialRow } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { shapeOf } from './credential-fields';
import type { CredentialDto } from './dto/credential.dto';

/** The external id is shown only where a role's trust policy needs it, the identity where a cloud trusts the issuer. */
export const toCredential = (
  { externalId, ...row }: CredentialRow,
  organization: OrganizationId,
  identities: Identities,
): CredentialDto => ({
  ...row,
  ...(row.credentialType === 'ASSUME_ROLE' ? { externalId } : {}),
  ...setupOf(row, externalId, organization, identities),
});

function setupOf(
  { id, provider, credentialType, hints }: Omit<CredentialRow, 'externalId'>,
  externalId: string,
  organization: OrganizationId,
  identities: Identities,
): Pick<CredentialDto, 'identity' | 'setup'> {
  const { setup, needsIssuer } = shapeOf(provider, credentialType);
  if (!setup) return {};
  if (!needsIssuer) return { setup: setup({ issuer: '', subject: '', hints, externalId }) };
  const identity = identities.identityOf(organization, id);
  return identity ? { identity: { ...identity, setup: setup({ ...identity, hints }) } } : {};
}
