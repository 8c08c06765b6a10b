import { DriverError } from '../driver-error';
import { isMissing, type VpcNetwork } from './vpc-network';

/** What the driver does with firewall rules. */
const NEEDED = ['compute.firewalls.create', 'compute.firewalls.delete', 'compute.firewalls.update'];
/** Proven by the list that was just read: an answer without it is no answer. */
const PROVEN = 'compute.firewalls.list';
/** A name to ask about when the project has no rule. */
const NO_RULE = 'drawbridge-permission-check';

/**
 * Asks Compute what the credential may do with firewall rules, changing none. Where Compute does not tell, as for a
 * rule that is not there, it counts as allowed.
 * @throws DriverError `denied` naming what is missing
 */
export async function requirePermissions(network: VpcNetwork): Promise<void> {
  const granted = await grantedOn(network, (await network.anyRule()) ?? NO_RULE);
  if (!granted.includes(PROVEN)) return;
  const missing = NEEDED.filter((permission) => !granted.includes(permission));
  if (missing.length === 0) return;
  throw new DriverError('denied', `The service account lacks ${missing.join(', ')}`);
}

async function grantedOn(network: VpcNetwork, rule: string): Promise<string[]> {
  try {
    return await network.permissionsOn(rule, [PROVEN, ...NEEDED]);
  } catch (error) {
    if (isMissing(error) || (error instanceof DriverError && error.kind === 'invalid')) return [];
    throw error;
  }
}
