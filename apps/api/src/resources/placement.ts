import { DriverRegistry } from '#drivers';
import type { NewHolder } from '#engine-store/port';
import {
  canonicalCidr,
  ruleSpecs,
  type IpVersion,
  type Provider,
  type ResourceConfig,
  type RuleSpec,
} from '#rules';
import { conflict } from '../errors/api-error';

/** Where a resource's rules belong now. */
export interface Placement {
  readonly resourceId: string;
  readonly revision: number;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly targetId: string;
  readonly config: ResourceConfig;
}

const MAX_PLANS = 3;

/** The cloud rules that let an address or a range reach a resource. @param address canonical */
export function specsOf(
  { provider, resourceType, config }: Pick<Placement, 'provider' | 'resourceType' | 'config'>,
  address: string,
): RuleSpec[] {
  const { portsPerRule } = DriverRegistry.facts(provider).resourceTypes[resourceType]!;
  return ruleSpecs(canonicalCidr(address)!.cidr, config, portsPerRule);
}

/** An opening of a canonical address or range on a resource. */
export function newHolder(place: Placement, ipVersion: IpVersion, ipAddress: string): NewHolder {
  const { resourceId, revision, targetId } = place;
  return { resourceId, revision, targetId, ipVersion, ipAddress, specs: specsOf(place, ipAddress) };
}

/**
 * Plans again when a resource moved between the plan and the deed.
 * @param attempt plans and does it; `moved`: it did nothing, since a resource is not what the plan was made for
 * @throws ApiError 409 when resources keep moving
 */
export async function replanIfResourceMoved<T>(attempt: () => Promise<T | 'moved'>): Promise<T> {
  for (let plans = 0; plans < MAX_PLANS; plans += 1) {
    const done = await attempt();
    if (done !== 'moved') return done;
  }
  throw conflict('The resources are being changed right now: try again');
}
