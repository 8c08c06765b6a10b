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

/**
 * Reads the service principal of a tenant's credential. Uses no other source.
 * @throws DriverError `denied` when a field is missing
 */
export function readCredential(credential: DriverCredential): ServicePrincipal {
  const { data } = credential;
  const proof = proofOf(credential);
  return { tenantId: wellFormed(data, 'tenantId'), clientId: wellFormed(data, 'clientId'), proof };
}

function proofOf({ credentialType, data, identity }: DriverCredential): ServicePrincipal['proof'] {
  if (credentialType === 'SERVICE_PRINCIPAL') return { clientSecret: field(data, 'clientSecret') };
  if (credentialType === 'FEDERATED') return { identity: requireIdentity(identity) };
  throw new DriverError(
    'denied',
    `An Azure credential is SERVICE_PRINCIPAL or FEDERATED, not ${credentialType}`,
  );
}

/** @throws DriverError `invalid` when the target is not a network security group: its name becomes part of a URL */
export function readGroupName({ resourceType, identifier }: CloudTarget): GroupName {
  if (!AZURE_FACTS.resourceTypes[resourceType]) {
    throw new DriverError('invalid', `Azure has no resources of type ${resourceType} here`);
  }
  const name = parseGroupId(identifier);
  if (name) return name;
  throw new DriverError('invalid', `${identifier} is no id of a network security group`);
}

function wellFormed(data: DriverCredential['data'], name: string): string {
  const value = field(data, name);
  // It becomes part of a URL.
  if (AZURE_FACTS.credentialTypes.SERVICE_PRINCIPAL?.forms[name]?.pattern.test(value)) return value;
  throw new DriverError('denied', `The credential's ${name} is malformed`);
}

function field(data: DriverCredential['data'], name: string): string {
  const value = data[name];
  if (value) return value;
  throw new DriverError('denied', `The credential has no ${name}`);
}
