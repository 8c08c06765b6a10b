import { randomUUID } from 'node:crypto';
import { DriverRegistry, type CloudTarget, type RuleChange } from '#drivers';
import { describeDriver } from './driver-conformance';
import { kinds, thrown } from './driver-actions';
import type { BenchOptions, CloudFacts, DriverBench } from './driver-bench';
import { describeUnpolledWrites } from './identity-conformance';
import { describeLocks } from './lock-conformance';
import { SimulatedCloud } from './simulated-cloud';

const PRINCIPAL = {
  tenantId: '00000000-0000-4000-8000-000000000002',
  clientId: '00000000-0000-4000-8000-000000000003',
  clientSecret: 'simulated-client-secret',
  subscriptionId: '00000000-0000-4000-8000-000000000001',
};

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

const SERVICES: Readonly<Record<string, Service>> = {
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

const idOf = ({ armType }: Service, name: string): string =>
  `/subscriptions/${PRINCIPAL.subscriptionId}/resourcegroups/simulated-group/providers/${armType.toLowerCase()}/${name}`;

const targetOf = (
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

const CHILD_OPERATIONS = {
  read: ['ListFirewallRules', 'GetService', 'ListPermissions'],
  add: ['PutFirewallRule'],
  remove: ['DeleteFirewallRule'],
};
const LIST_OPERATIONS = { read: ['GetService'], add: ['PatchService'], remove: ['PatchService'] };

const driverOf = (resourceType: string, { url }: SimulatedCloud): ReturnType<DriverRegistry['driverFor']> =>
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
      addUnmanaged: (on, rule) => cloud.addUnmanaged(nameOf(on), rule),
      rules: (on) => cloud.rules(nameOf(on)),
      injectFault: (on, effect, fault, options) => cloud.injectFault(nameOf(on), effect, fault, options),
      injectCheckFault: (fault, options) => cloud.injectOperationFault('RequestToken', fault, options),
      calls: (on) =>
        cloud.calls(nameOf(on), [
          ...(property === null ? ['ListFirewallRules'] : []),
          'GetService',
          'GetServiceOperation',
        ]),
      reset: () => cloud.reset(),
      close: cloud.close,
    };
  };

for (const [resourceType, { property, polling }] of Object.entries(SERVICES)) {
  const start = startBench(resourceType);
  describeDriver('AZURE', start, resourceType);
  if (property === null) describeLocks(`AZURE driver of ${resourceType}`, start);
  if (polling !== undefined) describeUnpolledWrites(`AZURE driver of ${resourceType}`, start, 'done');
}

type Properties = Record<string, Record<string, unknown>>;

/** Another program that changes a resource, without Drawbridge. */
class OtherTool {
  private token = '';

  constructor(private readonly url: string) {}

  get(resourceType: string): Promise<Properties> {
    return this.send(resourceType);
  }

  patch(resourceType: string, properties: object): Promise<Properties> {
    return this.send(resourceType, { method: 'PATCH', body: JSON.stringify({ properties }) });
  }

  private async send(resourceType: string, init: RequestInit = {}): Promise<Properties> {
    const service = SERVICES[resourceType]!;
    this.token ||= await this.signIn();
    const url = `${this.url}/azure/arm${idOf(service, service.name)}?api-version=${service.apiVersion}`;
    const answer = await fetch(url, { ...init, headers: { authorization: `Bearer ${this.token}` } });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    const text = await answer.text();
    return text === '' ? {} : (JSON.parse(text) as { properties: Properties }).properties;
  }

  private async signIn(): Promise<string> {
    const answer = await fetch(`${this.url}/azure/login/${PRINCIPAL.tenantId}/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: PRINCIPAL.clientId,
        client_secret: PRINCIPAL.clientSecret,
        scope: `${this.url}/azure/arm/.default`,
      }),
    });
    return ((await answer.json()) as { access_token: string }).access_token;
  }
}

const add = (address: string, ruleId: string = randomUUID()): RuleChange => ({
  action: 'add',
  ruleId,
  spec: { address, protocol: 'all', ports: [] },
  mark: { deployment: 'conformance', ruleId, expiresAt: null },
  config: {},
});

describe('Lists among the properties of a resource of Azure', () => {
  let cloud: SimulatedCloud;
  let tool: OtherTool;
  beforeAll(async () => {
    cloud = await SimulatedCloud.start('AZURE', LIST_OPERATIONS, 100);
    tool = new OtherTool(cloud.url);
  });
  beforeEach(() => cloud.reset());
  afterAll(() => cloud.close());

  const lists = Object.entries(SERVICES).flatMap(([resourceType, { name, property }]) =>
    property === null ? [] : [[resourceType, name, property] as const],
  );

  it.each(lists)('of %s keep what else is there, as it is', async (resourceType, name, property) => {
    const driver = await driverOf(resourceType, cloud);
    const known = (await tool.get(resourceType))[property]!;
    const subnet = { id: '/subscriptions/s/subnets/one', action: 'Allow', state: 'Succeeded' };
    const foreign = [
      { value: '198.51.100.0/24', action: 'Allow', note: 'office' },
      { value: '198.51.101.7', action: 'Allow' },
      { value: '198.51.102.0/24', action: 'Allow' },
    ];
    const before = { ...known, later: { added: 1 }, virtualNetworkRules: [subnet], ipRules: foreign };
    await tool.patch(resourceType, { [property]: before });
    const stored = (await tool.get(resourceType))[property]!;
    const key = '203.0.113.7/32 all *';
    const target = { ...targetOf(resourceType, name), claims: new Map([[key, randomUUID()]]) };
    expect(kinds(await driver.applyChanges(target, [add('203.0.113.7/32')]))).toEqual(['done']);
    const opened = (await tool.get(resourceType))[property]!;
    expect(opened).toMatchObject({ ...stored, ipRules: [...(stored['ipRules'] as object[]), {}] });
    const removal = { action: 'remove', ruleId: 'any', providerRuleId: '203.0.113.7/32' } as const;
    expect(kinds(await driver.applyChanges(target, [removal]))).toEqual(['done']);
    expect((await tool.get(resourceType))[property]).toEqual(stored);
  });

  it('take no IPv6 address, and no range of two where the service refuses it', async () => {
    for (const [resourceType, name] of lists) {
      const driver = await driverOf(resourceType, cloud);
      const results = kinds(
        await driver.applyChanges(targetOf(resourceType, name), [
          add('2001:db8::7/128'),
          add('203.0.113.8/31'),
        ]),
      );
      const isRefused = resourceType === 'STORAGE_ACCOUNT' || resourceType === 'AI_SERVICES_ACCOUNT';
      expect([resourceType, results]).toEqual([
        resourceType,
        ['wrong-family', isRefused ? 'invalid' : 'done'],
      ]);
    }
  });

  it('of vaults with access policies and of small registries are refused', async () => {
    const vault = await driverOf('KEY_VAULT', cloud);
    await tool.patch('KEY_VAULT', { enableRbacAuthorization: false });
    expect(await thrown(vault.verify(targetOf('KEY_VAULT', 'simulated-vault'), {}))).toBe('invalid');
  });
});

describe('A change that Azure takes longer for than a call may take', () => {
  let cloud: SimulatedCloud;
  beforeAll(async () => {
    cloud = await SimulatedCloud.start('AZURE', CHILD_OPERATIONS, 100, 600_000);
  });
  afterAll(() => cloud.close());

  it('is unknown, and the target is not read while it is in progress', async () => {
    const driver = await new DriverRegistry(
      {
        AZURE_AUTHORITY_HOST: `${cloud.url}/azure/login`,
        AZURE_RESOURCE_MANAGER_URL: `${cloud.url}/azure/arm`,
      },
      { callTimeoutMs: 6000 },
    ).driverFor('AZURE', 'POSTGRESQL_FLEXIBLE_SERVER');
    const target = targetOf('POSTGRESQL_FLEXIBLE_SERVER', 'simulated-postgresql');
    const results = await driver.applyChanges(target, [add('203.0.113.7/32'), add('203.0.113.8/32')]);
    expect(results).toMatchObject([
      { result: 'unknown', message: expect.stringContaining('about a minute') as string, retryAfterMs: 5000 },
      { result: 'refused' },
    ]);
    expect(await thrown(driver.readRules(target))).toBe('conflict');
    expect(kinds(await driver.applyChanges(target, [add('203.0.113.8/32')]).catch(() => []))).toEqual([]);
    // another process does not know of it, and is refused by the server
    const other = await driverOf('POSTGRESQL_FLEXIBLE_SERVER', cloud);
    expect(kinds(await other.applyChanges(target, [add('203.0.113.8/32')]))).toEqual(['conflict']);
  });
});
