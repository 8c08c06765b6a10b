import type { Organization } from '../accounts/organization';
import { simulatedObjects } from './driver-load';

const ACCOUNT = '123456789012';
const azure = (name: string) => ['AZURE', `simulated-group/simulated-${name}`] as const;

/** By resourceType: its provider, and the target in the simulated cloud that a resource is named by. */
export const SERVICES = {
  FIREWALL: ['GCP', 'default'],
  NETWORK_SECURITY_GROUP: azure('nsg'),
  SQL_SERVER: azure('sql'),
  POSTGRESQL_FLEXIBLE_SERVER: azure('postgresql'),
  MYSQL_FLEXIBLE_SERVER: azure('mysql'),
  KEY_VAULT: azure('vault'),
  CONTAINER_REGISTRY: azure('registry'),
  STORAGE_ACCOUNT: azure('storage'),
  AI_SERVICES_ACCOUNT: azure('ai'),
  WAF_IP_SET: [
    'AWS',
    `arn:aws:wafv2:eu-central-1:${ACCOUNT}:regional/ipset/simulated-0/0c8a5f2e-1b5d-4f6e-9a3b-7d2c1e0f4a60`,
  ],
  EKS_CLUSTER: ['AWS', `arn:aws:eks:eu-central-1:${ACCOUNT}:cluster/simulated-1`],
  PREFIX_LIST: ['AWS', 'pl-0123456789abcdef0'],
  PROJECT: ['ATLAS', `${'0'.repeat(22)}a1`],
  FIREWALL_RULE: ['VERCEL', 'prj_simulated1'],
  ROUTE: ['APISIX', 'simulated-route-1'],
  SERVICE: ['APISIX', 'simulated-service'],
  CONSUMER_GROUP: ['APISIX', 'simulated-consumer-group'],
  PLUGIN_CONFIG: ['APISIX', 'simulated-plugin-config'],
  GLOBAL_RULE: ['APISIX', 'simulated-global-rule'],
} as const;

export type ServiceType = keyof typeof SERVICES;

/** A verified resource of a service, with a credential of its own, which the organization's role has. @returns its id */
export async function verifiedService(
  org: Organization,
  resourceType: ServiceType,
  resourceIdentifier: string = SERVICES[resourceType][1],
  config: object = {},
): Promise<string> {
  const [provider] = SERVICES[resourceType];
  const { credentialType, data } = simulatedObjects(org.drawbridge.cloud.url)[provider].credential;
  const named = { name: `${resourceType} ${resourceIdentifier}`.slice(0, 100), provider };
  const key = { ...named, credentialType, credentialData: data };
  const { id: credentialId } = await org.admin.created('/credentials', key);
  const region = resourceType === 'PREFIX_LIST' && { region: 'eu-central-1' };
  const body = { ...named, resourceType, resourceIdentifier, credentialId, config, ...region };
  return (await org.resource(body)).id;
}
