import { openToEveryone, type AccessRule, type ResourceConfig } from '#rules';
import { DriverError } from './driver-error';

/** The config of resources whose rules have no ports. */
export const ALL_TRAFFIC: ResourceConfig = { protocol: 'all' };

/**
 * Refuses a target where the rules of sessions would restrict nothing, because its other rules let everybody in.
 * @param name the target, for the message
 * @param config of the resource, or `ALL_TRAFFIC`
 * @param parts as for `openToEveryone`: the rules in force on the target, those of other programs included
 * @throws DriverError `invalid` naming the traffic
 */
export function refuseOpenTarget(
  name: string,
  config: ResourceConfig,
  ...parts: readonly (readonly AccessRule[])[]
): void {
  const open = openToEveryone(config, ...parts);
  if (!open) return;
  throw new DriverError(
    'invalid',
    `${name} lets everybody (${open.from}) in to ${open.traffic}, so sessions would restrict nothing: remove that rule first`,
  );
}
