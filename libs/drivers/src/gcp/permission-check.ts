import { DriverError } from '../driver-error';
import { isMissing, type VpcNetwork } from './vpc-network';

/** Permissions the driver needs to write. */
const REQUIRED = ['compute.firewalls.create', 'compute.firewalls.delete', 'compute.firewalls.update'];
/** Known to be granted, because the list was just read: a response without it is not meaningful. */
const PROVEN = 'compute.firewalls.list';
/** Placeholder name when the project has no rule. */
const PLACEHOLDER_RULE = 'drawbridge-permission-check';

/**
 * Checks the credential's permissions on firewall rules without changing any. Passes where Compute gives no verdict,
 * for example for an absent rule.
 * @throws DriverError `denied` naming the missing permissions
 */
export async function requirePermissions(network: VpcNetwork): Promise<void> {
  const granted = await grantedOn(network, (await network.anyRule()) ?? PLACEHOLDER_RULE);
  if (!granted.includes(PROVEN)) return;
  const missing = REQUIRED.filter((permission) => !granted.includes(permission));
  if (missing.length === 0) return;
  throw new DriverError('denied', `The service account lacks ${missing.join(', ')}`);
}

async function grantedOn(network: VpcNetwork, rule: string): Promise<string[]> {
  try {
    return await network.permissionsOn(rule, [PROVEN, ...REQUIRED]);
  } catch (error) {
    if (isMissing(error) || (error instanceof DriverError && error.kind === 'invalid')) return [];
    throw error;
  }
}
