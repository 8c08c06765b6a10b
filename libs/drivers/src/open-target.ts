import { openToEveryone, type AccessRule, type ResourceConfig, type RuleSpec } from '#rules';
import { DriverError } from './driver-error';

/** The config of resources whose rules have no ports. */
export const ALL_TRAFFIC: ResourceConfig = { protocol: 'all' };

/** Such a rule. @param address canonical CIDR */
export const allTrafficFrom = (address: string): RuleSpec => ({
  address,
  protocol: 'all',
  ports: [],
});

/**
 * Why the rules of sessions restrict nothing on a target: its other rules let everybody in. Null: they restrict something.
 * @param name the target, for the message
 * @param config of the resource, or `ALL_TRAFFIC`
 * @param parts as for `openToEveryone`: the rules in force on the target, those of other programs included
 */
export function explainOpen(
  name: string,
  config: ResourceConfig,
  ...parts: readonly (readonly AccessRule[])[]
): string | null {
  const open = openToEveryone(config, ...parts);
  if (!open) return null;
  return `${name} lets everybody (${open.from}) in to ${open.traffic}, so sessions would restrict nothing: remove that rule first`;
}

/** Refuses such a target. @throws DriverError `invalid` naming the traffic */
export function refuseOpenTarget(...target: Parameters<typeof explainOpen>): void {
  const reason = explainOpen(...target);
  if (reason !== null) throw new DriverError('invalid', reason);
}
