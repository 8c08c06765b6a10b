import type { AccountShape, TargetName, ResourceTypeFacts } from '#drivers';
import type { CredentialRow } from '#tenant-store';
import type { OrganizationId, ResourceConfig } from '#rules';
import { invalidField } from '../errors/api-error';
import { knownType } from '../providers/resource-types';
import type { CreateResourceDto } from './dto/resource.dto';

/** The fields that identify a target and the access to it. */
export interface NamedResource extends Pick<
  CreateResourceDto,
  'provider' | 'resourceType' | 'resourceIdentifier'
> {
  readonly region?: string | null | undefined;
  readonly config: ResourceConfig;
}

/**
 * Validates type, identifier, region and config against the provider's facts.
 * @throws ApiError 400 naming the field and its constraint
 */
export function checkedType(resource: NamedResource): ResourceTypeFacts {
  const type = knownType(resource.provider, resource.resourceType);
  if (!type.identifier.pattern.test(resource.resourceIdentifier)) {
    throw invalidField('resourceIdentifier', exampleMessage(type.identifier));
  }
  if (type.region && !type.region.pattern.test(resource.region ?? '')) {
    throw invalidField('region', `is required for ${resource.provider} and ${exampleMessage(type.region)}`);
  }
  checkConfig(resource, type);
  return type;
}

/**
 * The region to store: the one in the identifier, where it has one.
 * @param given undefined: it was not given
 * @throws ApiError 400 when another one is given
 */
export function regionOf(
  { regionOf: ownRegion }: ResourceTypeFacts,
  { resourceIdentifier, region = null }: NamedResource,
  given: string | null | undefined,
): string | null {
  const own = ownRegion?.(resourceIdentifier);
  if (own === undefined) return given === undefined ? region : given;
  if (given === undefined || given === null || given === own) return own;
  throw invalidField('region', `must be left out, or be ${own}, the region in the ARN`);
}

/** What says in which account a resource is. */
interface AccountNames {
  readonly given: string | undefined;
  /** of the credential; null: it leaves it open, or does not tell */
  readonly own: string | null;
  /** where it is if nothing names another one */
  readonly usual: string | null;
}

/**
 * The account that a resource is in; null: nothing tells it.
 * @throws ApiError 400 when it is missing, malformed, or another one than the credential or the identifier names
 */
export function accountOf(
  { resourceIdentifier }: NamedResource,
  type: ResourceTypeFacts,
  shape: AccountShape | undefined,
  { given, own, usual }: AccountNames,
): string | null {
  if (!shape) {
    if (given === undefined) return null;
    throw invalidField('account', 'must be left out: the credential does not tell which account it is of');
  }
  if (given !== undefined && !shape.pattern.test(given)) throw invalidField('account', exampleMessage(shape));
  const inName = type.accountOf?.(resourceIdentifier);
  const fixed = own !== null && !shape.isDefault ? own : inName;
  if (fixed !== undefined && given !== undefined && given !== fixed) {
    const where = fixed === inName ? 'resourceIdentifier' : 'credential';
    throw invalidField('account', `must be left out, or be ${fixed}, the ${shape.noun} in the ${where}`);
  }
  const account = fixed ?? given ?? usual;
  if (account !== null) return account;
  throw invalidField('account', `must be the ${shape.noun} of the resource: the credential is for many`);
}

/** The target a resource points at. @param hints of the credential */
export function targetNameOf(
  { resourceIdentifier, config }: NamedResource,
  type: ResourceTypeFacts,
  hints: CredentialRow['hints'],
  organization: OrganizationId,
): TargetName {
  return type.nameTarget({ identifier: resourceIdentifier, config, hints, organization });
}

/** The constraint of a text that is described by its example. Follows the field's name in a message. */
export const exampleMessage = ({ example }: { readonly example: string }): string =>
  `must look like ${example}`;

function checkConfig({ resourceType, config }: NamedResource, type: ResourceTypeFacts): void {
  const known = new Set(type.config.map(({ name }) => name));
  const unknown = Object.keys(config).find((name) => !known.has(name));
  if (unknown) {
    const reason = known.size === 0 ? 'it has no config' : `its config may hold ${[...known].join(', ')}`;
    throw invalidField(`config.${unknown}`, `does not apply to ${resourceType}: ${reason}`);
  }
  if (config.port !== undefined && config.ports !== undefined) {
    throw invalidField('config.ports', 'must be left out when config.port is given');
  }
  if (config.targetTags !== undefined && config.targetServiceAccounts !== undefined)
    throw invalidField('config.targetServiceAccounts', 'must be left out when config.targetTags is given');
  if (Number(config.priorityFrom) > Number(config.priorityTo)) {
    throw invalidField('config.priorityTo', 'must not be below config.priorityFrom');
  }
}
