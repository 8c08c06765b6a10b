import { DriverRegistry, type TargetName, type ResourceTypeFacts } from '#drivers';
import type { CredentialRow } from '#tenant-store';
import type { OrganizationId, ResourceConfig } from '#rules';
import { badRequest } from '../errors/api-error';
import type { CreateResourceDto } from './dto/resource.dto';

/** What names a target, and the way to it. */
export interface NamedResource extends Pick<
  CreateResourceDto,
  'provider' | 'resourceType' | 'resourceIdentifier'
> {
  readonly region?: string | null | undefined;
  readonly config: ResourceConfig;
}

/**
 * Checks that the names point at something the provider can have.
 * @throws ApiError 400 naming the field and what it must be
 */
export function checkedType(asked: NamedResource): ResourceTypeFacts {
  const facts = DriverRegistry.facts(asked.provider);
  const type =
    Object.hasOwn(facts.resourceTypes, asked.resourceType) && facts.resourceTypes[asked.resourceType];
  if (!type)
    throw invalid(
      'resourceType',
      `must be one of ${Object.keys(facts.resourceTypes).join(', ')} for ${asked.provider}`,
    );
  if (!type.identifier.pattern.test(asked.resourceIdentifier)) {
    throw invalid('resourceIdentifier', exampleMessage(type.identifier));
  }
  if (facts.region && !facts.region.pattern.test(asked.region ?? '')) {
    throw invalid('region', `is required for ${asked.provider} and ${exampleMessage(facts.region)}`);
  }
  checkConfig(asked, type);
  return type;
}

/** The target that is named. @param hints of the credential */
export function targetNameOf(
  { resourceIdentifier, config }: NamedResource,
  type: ResourceTypeFacts,
  hints: CredentialRow['hints'],
  organization: OrganizationId,
): TargetName {
  return type.place({ identifier: resourceIdentifier, config, hints, organization });
}

/** What a text that is known by its example must be; goes after the field's name. */
export const exampleMessage = ({ example }: { readonly example: string }): string =>
  `must look like ${example}`;

function checkConfig({ resourceType, config }: NamedResource, type: ResourceTypeFacts): void {
  const known = new Set(type.config.map(({ name }) => name));
  const odd = Object.keys(config).find((name) => !known.has(name));
  if (odd) {
    const words = known.size === 0 ? 'it has no config' : `its config may hold ${[...known].join(', ')}`;
    throw invalid(`config.${odd}`, `does not apply to ${resourceType}: ${words}`);
  }
  if (config.port !== undefined && config.ports !== undefined) {
    throw invalid('config.ports', 'must be left out when config.port is given');
  }
  if (Number(config.priorityFrom) > Number(config.priorityTo)) {
    throw invalid('config.priorityTo', 'must not be below config.priorityFrom');
  }
}

const invalid = (field: string, words: string): Error => badRequest(`${field} ${words}`, { [field]: words });
