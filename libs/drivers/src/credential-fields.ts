import { DriverError } from './driver-error';
import type { CloudTarget, DriverCredential } from './provider-driver';
import type { ProviderFacts } from './provider-facts';

/**
 * The fields of a tenant's credential. No other source is used. Their forms are checked again, because some become part of a
 * URL or of a header.
 * @throws DriverError `denied` when its type is unknown, or a field is missing or malformed
 */
export function credentialFields(
  { provider, credentialTypes }: ProviderFacts,
  { credentialType, data }: DriverCredential,
): (name: string) => string {
  const shape = credentialTypes[credentialType];
  if (!shape) throw new DriverError('denied', `${provider} has no credentials of the type ${credentialType}`);
  for (const [name, { pattern, repair }] of Object.entries(shape.forms)) {
    const value = data[name];
    if (value && !repair && !pattern.test(value))
      throw new DriverError('denied', `The credential's ${name} is malformed`);
  }
  return (name) => {
    const value = data[name];
    if (value || shape.optional.includes(name)) return value ?? '';
    throw new DriverError('denied', `The credential has no ${name}`);
  };
}

/** @throws DriverError `invalid` when the provider has no such resources */
export function requireResourceType(
  { provider, resourceTypes }: ProviderFacts,
  { resourceType }: CloudTarget,
): void {
  if (!resourceTypes[resourceType])
    throw new DriverError('invalid', `${provider} has no resources of the type ${resourceType}`);
}
