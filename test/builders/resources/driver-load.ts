import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { CloudTarget } from '#drivers';
import type { Provider } from '#rules';
import { KEY_FILE } from '../../../apps/simulator/src/gcp/service-account';
import { simulatedClouds } from '../../harness/product/drawbridge';
import { group, SIMULATED_KEY } from '../accounts/organization';

const ROOT = resolve(__dirname, '../../..');
const SCRIPT = resolve(__dirname, '../../harness/loading/driver-load.cjs');

/** Cost of loading a driver and using it once, in a process without drivers. */
export interface DriverLoad {
  readonly loadMs: number;
  /** from start to a verified target: some drivers load their SDK on the first call */
  readonly readyMs: number;
  /** the longest time of that in which the process did nothing else */
  readonly stallMs: number;
  /** resident memory before, and after the target was verified, MB */
  readonly before: number;
  readonly after: number;
  /** drivers and scoped packages */
  readonly loaded: readonly string[];
}

type Checked = Omit<CloudTarget, 'claims'>;

const SUBSCRIPTION = '00000000-0000-4000-8000-000000000001';

const object = (
  resourceType: string,
  identifier: string,
  credentialType: string,
  data: Readonly<Record<string, string>>,
  region: string | null = null,
): Checked => ({
  resourceType,
  identifier,
  region,
  credential: { credentialType, data, externalId: null, identity: null },
  deployment: 'test',
});

const nsg =
  `/subscriptions/${SUBSCRIPTION}/resourcegroups/simulated-group` +
  '/providers/microsoft.network/networksecuritygroups/simulated-nsg';

/** A target of each simulated cloud with access to it. @param url of the simulator */
export const simulatedObjects = (url: string): Readonly<Record<Exclude<Provider, 'AGENT'>, Checked>> => ({
  AWS: object('SECURITY_GROUP', group(0), 'ACCESS_KEY', SIMULATED_KEY, 'eu-central-1'),
  GCP: object('FIREWALL', 'projects/simulated-project/global/networks/default', 'SERVICE_ACCOUNT', KEY_FILE),
  AZURE: object('NETWORK_SECURITY_GROUP', nsg, 'SERVICE_PRINCIPAL', {
    tenantId: '00000000-0000-4000-8000-000000000002',
    clientId: '00000000-0000-4000-8000-000000000003',
    clientSecret: 'simulated-client-secret',
    subscriptionId: SUBSCRIPTION,
  }),
  APISIX: object('ROUTE', 'simulated-route-1', 'ADMIN_KEY', {
    adminUrl: `${url}/apisix-gateway`,
    adminKey: 'simulated-admin-key',
  }),
  ATLAS: object('PROJECT', `${'0'.repeat(22)}a1`, 'SERVICE_ACCOUNT', {
    clientId: 'mdb_sa_id_simulated',
    clientSecret: 'simulated-atlas-secret',
  }),
  VERCEL: object('FIREWALL_RULE', 'prj_simulated1', 'TOKEN', { token: 'simulated-vercel-token' }),
});

/**
 * Loads one driver in a process of its own, and verifies a target of its simulated cloud.
 * @param url of the simulator
 * @param root folder of the release that the driver belongs to
 * @throws Error with the output of the process
 */
export async function driverLoad(provider: Provider, url: string, root = ROOT): Promise<DriverLoad> {
  const objects: Readonly<Partial<Record<Provider, Checked>>> = simulatedObjects(url);
  const work = JSON.stringify({ provider, environment: simulatedClouds(url), target: objects[provider] });
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', SCRIPT, work], {
    cwd: root,
  });
  return JSON.parse(stdout) as DriverLoad;
}
