import { CognitiveServicesManagementClient } from '@azure/arm-cognitiveservices';
import { ContainerRegistryManagementClient } from '@azure/arm-containerregistry';
import { KeyVaultManagementClient } from '@azure/arm-keyvault';
import { MySQLManagementFlexibleServerClient } from '@azure/arm-mysql-flexible';
import { PostgreSQLManagementFlexibleServerClient } from '@azure/arm-postgresql-flexible';
import { SqlManagementClient } from '@azure/arm-sql';
import { StorageManagementClient } from '@azure/arm-storage';
import { CHILD_OPERATIONS, signIn } from './azure-service-bench';
import { PRINCIPAL, SERVICES } from './azure-services';
import { SimulatedCloud } from './simulated-cloud';

const GROUP = 'simulated-group';
const POLLING = { updateIntervalInMs: 20 };

/** A change that Azure has accepted. */
interface Change {
  isDone(): boolean;
  pollUntilDone(): Promise<unknown>;
}
/** The addresses of one resource, through Microsoft's client. */
interface Addresses {
  list(): Promise<string[]>;
  add(address: string): Promise<Change>;
  remove(address: string): Promise<Change>;
}

type Credential = ConstructorParameters<typeof SqlManagementClient>[0];
type Pipeline = SqlManagementClient['pipeline'];
type Class<C> = new (credential: Credential, subscription: string, options: object) => C;

const replaceScheme = (from: string, to: string): Parameters<Pipeline['addPolicy']>[0] => ({
  name: `${to} instead of ${from}`,
  sendRequest: (request, next) => {
    request.url = request.url.replace(from, to);
    return next(request);
  },
});

function connect<C extends { readonly pipeline: Pipeline }>(Client: Class<C>, url: string): C {
  const getToken: Credential['getToken'] = async (scope) => ({
    token: await signIn(url, String(scope)),
    expiresOnTimestamp: Date.now() + 3_600_000,
  });
  const endpoint = `${url}/azure/arm`;
  const client = new Client({ getToken }, PRINCIPAL.subscriptionId, {
    endpoint,
    // the client of storage would ask for one of the public cloud
    credentials: { scopes: [`${endpoint}/.default`] },
    allowInsecureConnection: true,
    retryOptions: { maxRetries: 0 },
  });
  // it adds its token to https only
  const beforePolicies = ['bearerTokenAuthenticationPolicy'];
  client.pipeline.addPolicy(replaceScheme('http:', 'https:'), { beforePolicies });
  client.pipeline.addPolicy(replaceScheme('https:', 'http:'), { afterPhase: 'Sign' });
  return client;
}

const atOnce = async (call: Promise<unknown>): Promise<Change> => {
  await call;
  return { isDone: () => true, pollUntilDone: () => call };
};

type Names = [group: string, server: string];
interface Rules {
  listByServer(...names: Names): AsyncIterable<object>;
  beginCreateOrUpdate(...given: [...Names, rule: string, range: object, options: object]): Promise<Change>;
  beginDelete(...given: [...Names, rule: string, options: object]): Promise<Change>;
}
const unpolled = (rules: SqlManagementClient['firewallRules' | 'iPv6FirewallRules']): Rules => ({
  listByServer: (...names) => rules.listByServer(...names),
  beginCreateOrUpdate: (...given) => atOnce(rules.createOrUpdate(...given)),
  beginDelete: (...given) => atOnce(rules.delete(...given)),
});

/** Each address is a rule from itself to itself. */
function ruled(rules: Rules, server: string, fields = ['startIpAddress', 'endIpAddress']): Addresses {
  const nameOf = (address: string): string => `rule-${address.replaceAll(/\W/g, '-')}`;
  const rangeOf = (address: string): object => Object.fromEntries(fields.map((field) => [field, address]));
  return {
    list: async () => {
      const found: string[] = [];
      for await (const rule of rules.listByServer(GROUP, server))
        found.push(String((rule as Record<string, unknown>)[fields[0]!]));
      return found;
    },
    add: (one) => rules.beginCreateOrUpdate(GROUP, server, nameOf(one), rangeOf(one), POLLING),
    remove: (one) => rules.beginDelete(GROUP, server, nameOf(one), POLLING),
  };
}

/** Each address is an entry of a list that is written whole. */
function listed<K extends string, R extends { ipRules?: { [key in K]: string }[] }>(
  key: K,
  read: () => Promise<R | undefined>,
  write: (rules: R) => Promise<Change>,
): Addresses {
  const list = async (): Promise<string[]> =>
    ((await read())?.ipRules ?? []).map((entry) => entry[key].replace(/\/32$/, ''));
  const change = async (addresses: readonly string[]): Promise<Change> => {
    const ipRules = addresses.map((address) => ({ [key]: address }) as { [key in K]: string });
    return write({ ...(await read())!, ipRules });
  };
  return {
    list,
    add: async (address) => change([...(await list()), address]),
    remove: async (removed) => change((await list()).filter((address) => address !== removed)),
  };
}

const through = <C extends { readonly pipeline: Pipeline }>(
  resourceType: string,
  Client: Class<C>,
  open: (client: C, name: string) => Addresses,
  addresses = { first: '198.51.100.7', second: '203.0.113.7', third: '203.0.113.8' },
) => ({
  ...SERVICES[resourceType]!,
  ...addresses,
  open: ({ url }: SimulatedCloud, name: string) => open(connect(Client, url), name),
});

const CLIENTS = {
  '@azure/arm-sql': through('SQL_SERVER', SqlManagementClient, ({ firewallRules }, name) =>
    ruled(unpolled(firewallRules), name),
  ),
  '@azure/arm-sql for IPv6': through(
    'SQL_SERVER',
    SqlManagementClient,
    ({ iPv6FirewallRules: rules }, name) =>
      ruled(unpolled(rules), name, ['startIPv6Address', 'endIPv6Address']),
    { first: '2001:db8::6', second: '2001:db8::7', third: '2001:db8::8' },
  ),
  '@azure/arm-postgresql-flexible': through(
    'POSTGRESQL_FLEXIBLE_SERVER',
    PostgreSQLManagementFlexibleServerClient,
    ({ firewallRules }, name) => ruled(firewallRules, name),
  ),
  '@azure/arm-mysql-flexible': through(
    'MYSQL_FLEXIBLE_SERVER',
    MySQLManagementFlexibleServerClient,
    ({ firewallRules }, name) => ruled(firewallRules, name),
  ),
  '@azure/arm-keyvault': through('KEY_VAULT', KeyVaultManagementClient, ({ vaults }, name) =>
    listed(
      'value',
      async () => (await vaults.get(GROUP, name)).properties.networkAcls,
      (networkAcls) => atOnce(vaults.update(GROUP, name, { properties: { networkAcls } })),
    ),
  ),
  '@azure/arm-containerregistry': through(
    'CONTAINER_REGISTRY',
    ContainerRegistryManagementClient,
    ({ registries }, name) =>
      listed(
        'iPAddressOrRange',
        async () => (await registries.get(GROUP, name)).networkRuleSet,
        (networkRuleSet) => registries.beginUpdate(GROUP, name, { networkRuleSet }, POLLING),
      ),
  ),
  '@azure/arm-storage': through('STORAGE_ACCOUNT', StorageManagementClient, ({ storageAccounts }, name) =>
    listed(
      'iPAddressOrRange',
      async () => (await storageAccounts.getProperties(GROUP, name)).networkRuleSet,
      // without another property, this version of the client leaves the rules out
      (networkRuleSet) =>
        atOnce(storageAccounts.update(GROUP, name, { networkRuleSet, publicNetworkAccess: 'Enabled' })),
    ),
  ),
  '@azure/arm-cognitiveservices': through(
    'AI_SERVICES_ACCOUNT',
    CognitiveServicesManagementClient,
    ({ accounts }, name) =>
      listed(
        'value',
        async () => (await accounts.get(GROUP, name)).properties?.networkAcls,
        (networkAcls) => accounts.beginUpdate(GROUP, name, { properties: { networkAcls } }, POLLING),
      ),
  ),
};

const ended = async (change: Promise<Change>): Promise<unknown> => (await change).pollUntilDone();
const refused = (statusCode: number, code: string): object => ({ name: 'RestError', statusCode, code });

describe('The simulated Azure', () => {
  let cloud: SimulatedCloud;
  let slow: SimulatedCloud;
  beforeAll(async () => {
    cloud = await SimulatedCloud.start('AZURE', CHILD_OPERATIONS, 2, 100);
    slow = await SimulatedCloud.start('AZURE', CHILD_OPERATIONS, 2, 600_000);
  });
  beforeEach(() => Promise.all([cloud.reset(), slow.reset()]));
  afterAll(() => Promise.all([cloud.close(), slow.close()]));

  const clients = Object.entries(CLIENTS);

  it.each(clients)('shows %s an address until it is removed, and lets it in', async (_, used) => {
    const { name, first, second } = used;
    const client = used.open(cloud, name);
    const letIn = async () => (await cloud.rules(`${GROUP}/${name}`)).map(({ address }) => address);
    for (const address of [first, second]) await ended(client.add(address));
    expect((await client.list()).toSorted()).toEqual([first, second]);
    expect((await letIn()).toSorted()).toEqual([first, second]);
    await ended(client.remove(first));
    expect([await client.list(), await letIn()]).toEqual([[second], [second]]);
  });

  it.each(clients)('refuses %s a wrong address, one too many, and an unknown resource', async (_, used) => {
    const client = used.open(cloud, used.name);
    await expect(client.add('203.0.113.256')).rejects.toMatchObject(refused(400, 'InvalidParameter'));
    for (const address of [used.first, used.second]) await ended(client.add(address));
    const limit = used.name === 'simulated-sql' ? '40611' : 'IpRuleCountLimitExceeded';
    await expect(client.add(used.third)).rejects.toMatchObject(refused(400, limit));
    const unknown = used.open(cloud, 'unknown').list();
    await expect(unknown).rejects.toMatchObject(refused(404, 'ResourceNotFound'));
  });

  const polling = clients.filter(([, used]) => used.polling !== null);

  it.each(polling)('tells %s that a change is in progress, and refuses another one', async (_, used) => {
    const client = used.open(slow, used.name);
    expect((await client.add(used.first)).isDone()).toBe(false);
    expect(await client.list()).toEqual([]);
    await expect(client.add(used.second)).rejects.toMatchObject(refused(409, 'ServerIsBusy'));
  });

  it.each(polling)('tells %s why a change failed later', async (_, used) => {
    const client = used.open(cloud, used.name);
    const operation = used.shape === 'children' ? 'PutFirewallRule' : 'PatchService';
    await cloud.injectOperationFault(operation, 'fail-later');
    await expect(ended(client.add(used.first))).rejects.toThrow('InternalServerError');
    expect(await client.list()).toEqual([]);
  });

  it('gives @azure/arm-postgresql-flexible a second page', async () => {
    const { name, open } = CLIENTS['@azure/arm-postgresql-flexible'];
    const addresses = Array.from({ length: 251 }, (_, index) => `198.51.100.${index}`);
    for (const address of addresses) await cloud.addUnmanaged(`${GROUP}/${name}`, { address, port: 1 });
    expect((await open(cloud, name).list()).toSorted()).toEqual(addresses.toSorted());
  });
});
