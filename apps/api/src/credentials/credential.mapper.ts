import type { Identities } from '#credentials';
import type { CredentialRow } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { setupOf } from './credential-fields';
import type { CredentialDto, CredentialIdentityDto } from './dto/credential.dto';

/** The external id is shown only where a role's trust policy needs it, the identity where a cloud trusts the issuer. */
export const toCredential = (
  { externalId, ...row }: CredentialRow,
  organization: OrganizationId,
  identities: Identities,
): CredentialDto => ({
  ...row,
  ...(row.credentialType === 'ASSUME_ROLE' ? { externalId } : {}),
  ...identityOf(row, organization, identities),
});

function identityOf(
  {
    id,
    provider,
    credentialType,
    hints,
  }: Pick<CredentialRow, 'id' | 'provider' | 'credentialType' | 'hints'>,
  organization: OrganizationId,
  identities: Identities,
): { identity?: CredentialIdentityDto } {
  const setup = setupOf(provider, credentialType);
  const identity = setup && identities.identityOf(organization, id);
  return identity ? { identity: { ...identity, setup: setup({ ...identity, hints }) } } : {};
}
