import { isMissing } from '../call-failure';
import { DriverError } from '../driver-error';
import type { VpcNetwork } from './vpc-network';

/** Permissions on firewall rules that the driver needs to write. */
const WRITING = ['compute.firewalls.create', 'compute.firewalls.delete', 'compute.firewalls.update'];
/** Everything in the role that the documentation names. */
const REQUIRED = [
  ...WRITING,
  'compute.firewalls.get',
  'compute.firewalls.list',
  'compute.globalOperations.get',
  'compute.networks.get',
  'compute.networks.updatePolicy',
];
/** Known to be granted, because the list was just read: a response without it is not meaningful. */
const PROVEN = 'compute.firewalls.list';
/** Placeholder name when the project has no rule. */
const PLACEHOLDER_RULE = 'drawbridge-permission-check';

/**
 * Checks the credential's permissions without changing anything: on the project, or on one of its firewall rules where the
 * Resource Manager gives no verdict, for example because its API is not enabled. Passes only where Google gives no verdict
 * on either; a refused question is not a verdict that allows anything.
 * @throws DriverError `denied` naming the missing permissions, `invalid` when Google refuses to answer
 */
export async function requirePermissions(network: VpcNetwork): Promise<void> {
  const onProject = await readGrantsOnProject(network);
  if (onProject?.includes(PROVEN)) return refuseMissing(REQUIRED, onProject);
  const onRule = await readGrants(network, (await network.anyRule()) ?? PLACEHOLDER_RULE);
  if (onRule.includes(PROVEN)) refuseMissing(WRITING, onRule);
}

function refuseMissing(required: readonly string[], granted: readonly string[]): void {
  const missing = required.filter((permission) => !granted.includes(permission));
  if (missing.length === 0) return;
  throw new DriverError('denied', `The credential lacks ${missing.join(', ')}`);
}

/** @returns null when the Resource Manager may not be asked, or does not know the project */
async function readGrantsOnProject(network: VpcNetwork): Promise<readonly string[] | null> {
  try {
    return await network.permissionsOnProject(REQUIRED);
  } catch (error) {
    if (isMissing(error) || (error instanceof DriverError && error.kind === 'denied')) return null;
    throw explained(error);
  }
}

async function readGrants(network: VpcNetwork, rule: string): Promise<readonly string[]> {
  try {
    return await network.permissionsOn(rule, [PROVEN, ...WRITING]);
  } catch (error) {
    if (isMissing(error)) return [];
    throw explained(error);
  }
}

/** Adds what to do to a refusal that says nothing about permissions. */
function explained(error: unknown): unknown {
  if (!(error instanceof DriverError) || error.kind !== 'invalid') return error;
  return new DriverError(
    'invalid',
    `Google does not answer whether the service account may write firewall rules (${error.message}): enable the Cloud Resource Manager API in its project`,
  );
}
