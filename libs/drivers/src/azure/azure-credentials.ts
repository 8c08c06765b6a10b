import { credentialFields, requireResourceType } from '../credential-fields';
import { DriverError } from '../driver-error';
import { requireIdentity, type IdentityTokens } from '../identity-tokens';
import type { CloudTarget, DriverCredential } from '../provider-driver';
import { AZURE_FACTS, parseGroupId, type GroupName } from './azure.facts';

/** The identity for calls to Azure. */
export interface ServicePrincipal {
  readonly tenantId: string;
  readonly clientId: string;
  /** its secret, or tokens of the organization's issuer that stand for one */
  readonly proof: { readonly clientSecret: string } | { readonly identity: IdentityTokens };
}

/** @throws DriverError `denied` when it is unusable */
export function readCredential(credential: DriverCredential): ServicePrincipal {
  const field = credentialFields(AZURE_FACTS, credential);
  const proof =
    credential.credentialType === 'FEDERATED'
      ? { identity: requireIdentity(credential.identity) }
      : { clientSecret: field('clientSecret') };
  return { tenantId: field('tenantId'), clientId: field('clientId'), proof };
}

/** @throws DriverError `invalid` when the target is not a network security group: its name becomes part of a URL */
export function readGroupName(target: CloudTarget): GroupName {
  requireResourceType(AZURE_FACTS, target);
  const name = parseGroupId(target.identifier);
  if (name) return name;
  throw new DriverError('invalid', `${target.identifier} is no id of a network security group`);
}
