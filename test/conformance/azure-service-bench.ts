import { DriverRegistry, type CloudTarget } from '#drivers';
import { describeDriver } from './driver-conformance';
import type { BenchOptions, CloudFacts, DriverBench } from './driver-bench';
import { describeUnpolledWrites } from './identity-conformance';
import { describeLocks } from './lock-conformance';
import { SimulatedCloud } from './simulated-cloud';

export const PRINCIPAL = {
  tenantId: '00000000-0000-4000-8000-000000000002',
  clientId: '00000000-0000-4000-8000-000000000003',
  clientSecret: 'simulated-client-secret',
  subscriptionId: '00000000-0000-4000-8000-000000000001',
};

/** @returns a token of the simulated cloud */
export async function signIn(url: string, scope = `${url}/azure/arm/.default`): Promise<string> {
  const { tenantId, clientId, clientSecret } = PRINCIPAL;
  const proof = { client_id: clientId, client_secret: clientSecret };
  const answer = await fetch(`${url}/azure/login/${tenantId}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', ...proof, scope }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** A kind of service, as the simulated cloud has it. */
interface Service {
  readonly armType: string;
  /** of the first resource */
  readonly name: string;
  readonly apiVersion: string;
  /** null: its rules are objects of their own */
  readonly property: string | null;
  readonly takesIpv6?: true;
  readonly polling?: string;
}

export const SERVICES: Readonly<Record<string, Service>> = {
  SQL_SERVER: {
    armType: 'Microsoft.Sql/servers',
    name: 'simulated-sql',
    apiVersion: '2023-08-01',
    property: null,
    takesIpv6: true,
  },
  POSTGRESQL_FLEXIBLE_SERVER: {
    armType: 'Microsoft.DBforPostgreSQL/flexibleServers',
    name: 'simulated-postgresql',
    apiVersion: '2025-08-01',
    property: null,
    polling: 'Microsoft.DBforPostgreSQL/locations/azureAsyncOperation/read',
  },
  MYSQL_FLEXIBLE_SERVER: {
    armType: 'Microsoft.DBforMySQL/flexibleServers',
    name: 'simulated-mysql',
    apiVersion: '2021-05-01',
    property: null,
    polling: 'Microsoft.DBforMySQL/locations/azureAsyncOperation/read',
  },
  KEY_VAULT: {
    armType: 'Microsoft.KeyVault/vaults',
    name: 'simulated-vault',
    apiVersion: '2026-02-01',
    property: 'networkAcls',
  },
  CONTAINER_REGISTRY: {
    armType: 'Microsoft.ContainerRegistry/registries',
    name: 'simulated-registry',
    apiVersion: '2025-11-01',
    property: 'networkRuleSet',
    polling: 'Microsoft.ContainerRegistry/registries/operationStatuses/read',
  },
  STORAGE_ACCOUNT: {
    armType: 'Microsoft.Storage/storageAccounts',
    name: 'simulated-storage',
    apiVersion: '2025-08-01',
    property: 'networkAcls',
  },
  AI_SERVICES_ACCOUNT: {
    armType: 'Microsoft.CognitiveServices/accounts',
    name: 'simulated-ai',
    apiVersion: '2025-09-01',
    property: 'networkAcls',
    polling: 'Microsoft.CognitiveServices/locations/operationResults/read',
  },
};

export const idOf = ({ armType }: Service, name: string): string =>
  `/subscriptions/${PRINCIPAL.subscriptionId}/resourcegroups/simulated-group/providers/${armType.toLowerCase()}/${name}`;

export const targetOf = (
  resourceType: string,
  name: string,
  data: Record<string, string> = PRINCIPAL,
): CloudTarget => ({
  resourceType,
  identifier: idOf(SERVICES[resourceType]!, name),
  region: null,
  credential: { credentialType: 'SERVICE_PRINCIPAL', data, externalId: null, identity: null },
  deployment: 'conformance',
  claims: new Map(),
});

const nameOf = ({ identifier }: CloudTarget): string => `simulated-group/${identifier.split('/').at(-1)}`;

export const CHILD_OPERATIONS = {
  read: ['ListFirewallRules', 'GetService', 'ListPermissions'],
  add: ['PutFirewallRule'],
  remove: ['DeleteFirewallRule'],
};
export const LIST_OPERATIONS = { read: ['GetService'], add: ['PatchService'], remove: ['PatchService'] };

export const driverOf = (
  resourceType: string,
  { url }: SimulatedCloud,
): ReturnType<DriverRegistry['driverFor']> =>
  new DriverRegistry({
    AZURE_AUTHORITY_HOST: `${url}/azure/login`,
    AZURE_RESOURCE_MANAGER_URL: `${url}/azure/arm`,
  }).driverFor('AZURE', resourceType);

const startBench =
  (resourceType: string) =>
  async ({ capacity, operationMs }: BenchOptions): Promise<DriverBench> => {
    const service = SERVICES[resourceType]!;
    const { armType, name, property, takesIpv6, polling } = service;
    const operations = property === null ? CHILD_OPERATIONS : LIST_OPERATIONS;
    const cloud = await SimulatedCloud.start('AZURE', operations, capacity, operationMs);
    const target = (suffix: string, data?: Record<string, string>): CloudTarget =>
      targetOf(resourceType, `${name}${suffix}`, data);
    const facts: CloudFacts = {
      ports: false,
      marks: property === null,
      batch: property === null ? 'call-each' : 'whole-list',
      adoptsUnmanagedRules: false,
      capacityPerIpVersion: takesIpv6 ?? false,
      ...(!takesIpv6 && { singleIpVersion: true }),
      ...(property !== null && { sharedList: true, addressIsIdentity: true }),
    };
    const verbs = ['read', 'write', 'delete'];
    const collections = ['firewallRules', ...(takesIpv6 ? ['ipv6FirewallRules'] : [])];
    const below =
      property === null ? collections.flatMap((each) => verbs.map((verb) => `${each}/${verb}`)) : ['write'];
    return {
      cloud: facts,
      driver: await driverOf(resourceType, cloud),
      target: (number) => target(number === 0 ? '' : `-${number + 1}`),
      missingTarget: () => target('-that-does-not-exist'),
      withWrongSecret: (known) => ({
        ...known,
        credential: { ...known.credential, data: { ...PRINCIPAL, clientSecret: 'another-secret' } },
      }),
      unknownCredential: () =>
        target('', { ...PRINCIPAL, clientId: '00000000-0000-4000-8000-00000000dead' }).credential,
      // of a list, the service itself refuses it
      malformedSpec: {
        address: property === null ? '203.0.113.256/32' : '10.1.2.3/32',
        protocol: 'all',
        ports: [],
      },
      changes:
        property === null
          ? [
              { address: '198.51.100.9' },
              { address: '0.0.0.0/0' },
              { fields: { endIpAddress: '203.0.113.9' } },
              { fields: { startIpAddress: '0.0.0.0', endIpAddress: '0.0.0.0' } },
            ]
          : [],
      edit: (on, address, edit) => cloud.edit(nameOf(on), address, edit),
      role: {
        verified: ['read', ...below].map((action) => `${armType}/${action}`),
        polling: polling === undefined ? [] : [polling],
        withdraw: (permissions) => cloud.withdraw(permissions),
      },
      lock: (on, level) => cloud.lock(nameOf(on), level),
      ...cloud.handles(
        'RequestToken',
        [...(property === null ? ['ListFirewallRules'] : []), 'GetService', 'GetServiceOperation'],
        nameOf,
      ),
    };
  };

/** What every driver does, at one kind of service of Azure. */
export function describeService(resourceType: string): void {
  const { property, polling } = SERVICES[resourceType]!;
  const start = startBench(resourceType);
  describeDriver('AZURE', start, resourceType);
  if (property === null) describeLocks(`AZURE driver of ${resourceType}`, start);
  if (polling !== undefined) describeUnpolledWrites(`AZURE driver of ${resourceType}`, start, 'done');
}
