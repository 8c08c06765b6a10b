import { DriverRegistry } from '#drivers';
import type { OrganizationId } from '#rules';
import { badRequest } from '../errors/api-error';
import type { CreateResourceDto } from './dto/resource.dto';

/** What names a cloud object, and the way to it. */
export interface NamedResource extends Pick<
  CreateResourceDto,
  'provider' | 'resourceType' | 'resourceIdentifier'
> {
  readonly region?: string | null | undefined;
  readonly config?: CreateResourceDto['config'] | undefined;
}

/**
 * Checks that the names point at something the provider can have.
 * @returns the cloud object's one name
 * @throws ApiError 400 naming the field and what it must be
 */
export function checkedTargetKey(asked: NamedResource, organization: OrganizationId): string {
  const facts = DriverRegistry.facts(asked.provider);
  if (!facts)
    throw invalid(
      'provider',
      `is not served here: this deployment serves ${DriverRegistry.served.join(', ')}`,
    );
  const type =
    Object.hasOwn(facts.resourceTypes, asked.resourceType) && facts.resourceTypes[asked.resourceType];
  if (!type)
    throw invalid(
      'resourceType',
      `must be one of ${Object.keys(facts.resourceTypes).join(', ')} for ${asked.provider}`,
    );
  if (!type.identifier.pattern.test(asked.resourceIdentifier)) {
    throw invalid('resourceIdentifier', `must look like ${type.identifier.example}`);
  }
  if (facts.region && !facts.region.pattern.test(asked.region ?? '')) {
    throw invalid('region', `is required for ${asked.provider} and must look like ${facts.region.example}`);
  }
  if (asked.config?.port !== undefined && asked.config.ports !== undefined) {
    throw invalid('config.ports', 'must be left out when config.port is given');
  }
  return type.targetKey(asked.resourceIdentifier, organization);
}

const invalid = (field: string, words: string): Error => badRequest(`${field} ${words}`, { [field]: words });
