import { DriverRegistry } from '#drivers';
import type { NewResourceIp } from '#engine-store/port';
import { canonicalCidr, ruleSpecs, type IpVersion, type RuleSpec } from '#rules';
import type { LockedTarget } from '#tenant-store';

/** The fields of a resource that planning needs. `revision` increases when its target or config changes. */
export type PlannedResource = Omit<LockedTarget, 'resourceName'>;

/** The rules that allow an address or a range on a resource. @param address canonical */
export function plannedRules(
  { provider, resourceType, config }: Pick<PlannedResource, 'provider' | 'resourceType' | 'config'>,
  address: string,
): RuleSpec[] {
  const { portsPerRule } = DriverRegistry.facts(provider).resourceTypes[resourceType]!;
  return ruleSpecs(canonicalCidr(address)!.cidr, config, portsPerRule);
}

/** A holder of a canonical address or range on a resource. */
export function newResourceIp(
  resource: PlannedResource,
  ipVersion: IpVersion,
  ipAddress: string,
): NewResourceIp {
  const { resourceId, revision, targetId } = resource;
  return { resourceId, revision, targetId, ipVersion, ipAddress, specs: plannedRules(resource, ipAddress) };
}
