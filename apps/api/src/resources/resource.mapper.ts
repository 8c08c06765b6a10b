import { DriverRegistry } from '#drivers';
import type { Principal } from '#guards';
import { roomOf, trafficWarnings } from '#rules';
import type { ResourceRow } from '#tenant-store';
import { toRoom } from '../http/room.dto';
import type { ResourceDto, ResourceGrant, ResourceWithWarningsDto } from './dto/resource.dto';

export function toResource(resource: ResourceRow): ResourceDto {
  const { region, targetId: _, targetKey: __, targetIdentifier: ___, accessId: ____, ...row } = resource;
  const room = row.room && roomOf(row.room, row.config).map(toRoom);
  return { ...row, room, ...(region !== null && { region }) };
}

/**
 * The provider's words on a failed verification are for administrators.
 * @param grants of the caller, by the resource's id
 */
export const toResourceFor =
  ({ isOrgAdmin }: Principal, grants: ReadonlyMap<string, ResourceGrant>) =>
  (resource: ResourceRow): ResourceDto => {
    const shown = toResource(isOrgAdmin ? resource : { ...resource, verificationError: null });
    return Object.assign(shown, grants.get(resource.id));
  };

/** @param further warnings of a verification */
export const withWarnings = (
  resource: ResourceRow,
  further: readonly string[] = [],
): ResourceWithWarningsDto =>
  Object.assign(toResource(resource), { warnings: [...portWarnings(resource), ...further] });

/** What a resource opens without a limit, for people. */
export function portWarnings({
  provider,
  resourceType,
  config,
}: Pick<ResourceRow, 'provider' | 'resourceType' | 'config'>): string[] {
  return trafficWarnings(config, DriverRegistry.facts(provider).resourceTypes[resourceType]!.portsPerRule);
}
