import { credentialFields } from '../credential-fields';
import { DriverError } from '../driver-error';
import { requireIdentity, type IdentityTokens } from '../identity-tokens';
import type { CloudTarget, DriverCredential } from '../provider-driver';
import { armTypeOf, AZURE_FACTS } from './azure.facts';
import { parseResourceId, type ResourceName } from './resource-id';

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

/** @throws DriverError `invalid` when the identifier is not of the target's type: it becomes part of a URL */
export function readResourceName({ resourceType, identifier }: CloudTarget): ResourceName {
  const armType = armTypeOf(resourceType);
  const name = parseResourceId(identifier, armType);
  if (name) return name;
  throw new DriverError('invalid', `${identifier} is no id of ${armType}`);
}
