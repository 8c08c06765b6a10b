import { createHash } from 'node:crypto';
import { DriverError } from '../driver-error';
import type { CloudTarget, DriverCredential } from '../provider-driver';
import { AZURE_FACTS, parseGroupId, type GroupName } from './azure.facts';

/** Who asks Azure, and for what account. */
export interface ServicePrincipal {
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * The service principal that a tenant's credential holds. Nothing else is ever looked up for it.
 * @throws DriverError `denied` when a field is missing
 */
export function readCredential({ credentialType, data }: DriverCredential): ServicePrincipal {
  if (credentialType !== 'SERVICE_PRINCIPAL') {
    throw new DriverError('denied', `An Azure credential is SERVICE_PRINCIPAL, not ${credentialType}`);
  }
  return {
    tenantId: uuid(data, 'tenantId'),
    clientId: uuid(data, 'clientId'),
    clientSecret: field(data, 'clientSecret'),
  };
}

/** @throws DriverError `invalid` when the target is no network security group: its name becomes part of a URL */
export function readGroupName({ resourceType, identifier }: CloudTarget): GroupName {
  if (!AZURE_FACTS.resourceTypes[resourceType]) {
    throw new DriverError('invalid', `Azure has no resources of type ${resourceType} here`);
  }
  const name = parseGroupId(identifier);
  if (name) return name;
  throw new DriverError('invalid', `${identifier} is no id of a network security group`);
}

/** A cache key that changes with every field and gives none of them away. */
export const fingerprint = ({ tenantId, clientId, clientSecret }: ServicePrincipal): string =>
  createHash('sha256')
    .update(JSON.stringify([tenantId, clientId, clientSecret]))
    .digest('base64');

function uuid(data: DriverCredential['data'], name: string): string {
  const value = field(data, name);
  // It becomes part of a URL.
  if (AZURE_FACTS.credentialTypes.SERVICE_PRINCIPAL?.forms[name]?.pattern.test(value)) return value;
  throw new DriverError('denied', `The credential's ${name} is no UUID`);
}

function field(data: DriverCredential['data'], name: string): string {
  const value = data[name];
  if (value) return value;
  throw new DriverError('denied', `The credential has no ${name}`);
}
