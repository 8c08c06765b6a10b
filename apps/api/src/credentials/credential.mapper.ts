import type { CredentialIdentity, Identities } from '#credentials';
import { DriverRegistry, firstTypeOf, policyOf, type ResourceTypeFacts } from '#drivers';
import type { CredentialRow } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { shapeOf } from './credential-fields';
import type { CredentialDto, CredentialSetupDto } from './dto/credential.dto';

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

type ShownCredential = Omit<CredentialRow, 'externalId'>;

function setupOf(
  row: ShownCredential,
  externalId: string,
  organization: OrganizationId,
  identities: Identities,
): Pick<CredentialDto, 'identity' | 'setup'> {
  const { needsIssuer } = shapeOf(row.provider, row.credentialType);
  const { policy } = firstTypeOf(DriverRegistry.facts(row.provider));
  const identity = identities.identityOf(organization, row.id);
  const setup = commandsOf(row, externalId, identity, policy);
  if (setup === undefined) return {};
  return needsIssuer ? { identity: { ...identity!, setup } } : { setup };
}

/** What to paste for a credential that opens resources of some types. */
export function toCredentialSetup(
  { externalId, ...row }: CredentialRow,
  organization: OrganizationId,
  identities: Identities,
  types: readonly ResourceTypeFacts[],
  scope: string | undefined,
): CredentialSetupDto {
  const policy = policyOf(DriverRegistry.facts(row.provider), types);
  const setup = commandsOf(row, externalId, identities.identityOf(organization, row.id), policy, scope);
  return { policy, ...(setup !== undefined && { setup }) };
}

/** @returns undefined when the provider needs not know of the credential, or this deployment has no issuer */
function commandsOf(
  { provider, credentialType, hints }: ShownCredential,
  externalId: string,
  identity: CredentialIdentity | null,
  policy: string,
  scope?: string,
): string | undefined {
  const { setup, needsIssuer } = shapeOf(provider, credentialType);
  if (!needsIssuer) return setup?.({ issuer: '', subject: '', hints, externalId, scope }, policy);
  return identity ? setup?.({ ...identity, hints, scope }, policy) : undefined;
}
