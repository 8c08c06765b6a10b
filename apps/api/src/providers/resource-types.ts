import { DriverRegistry, type ResourceTypeFacts } from '#drivers';
import type { Provider } from '#rules';
import { invalidField } from '../errors/api-error';

/** @throws ApiError 400 naming the types that there are */
export function knownType(provider: Provider, resourceType: string): ResourceTypeFacts {
  const { resourceTypes } = DriverRegistry.facts(provider);
  const type = Object.hasOwn(resourceTypes, resourceType) && resourceTypes[resourceType];
  if (type) return type;
  const message = `must be one of ${Object.keys(resourceTypes).join(', ')} for ${provider}`;
  throw invalidField('resourceType', message);
}
