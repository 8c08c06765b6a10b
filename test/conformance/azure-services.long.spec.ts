import {
  CHILD_OPERATIONS,
  describeService,
  driverOf,
  LIST_OPERATIONS,
  signIn,
  targetOf,
} from './azure-service-bench';
import { idOf, SERVICES } from './azure-services';
import { addition, allOf, claiming, kinds, remove, thrown } from './driver-actions';
import { SimulatedCloud } from './simulated-cloud';

for (const resourceType of Object.keys(SERVICES)) describeService(resourceType);

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
    this.token ||= await signIn(this.url);
    const url = `${this.url}/azure/arm${idOf(service, service.name)}?api-version=2025-08-01`;
    const answer = await fetch(url, { ...init, headers: { authorization: `Bearer ${this.token}` } });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    const text = await answer.text();
    return text === '' ? {} : (JSON.parse(text) as { properties: Properties }).properties;
  }
}

describe('Lists among the properties of a resource of Azure', () => {
  let cloud: SimulatedCloud;
  let tool: OtherTool;
  beforeAll(async () => {
    cloud = await SimulatedCloud.start('AZURE', LIST_OPERATIONS, 100);
    tool = new OtherTool(cloud.url);
  });
  beforeEach(() => cloud.reset());
  afterAll(() => cloud.close());

  const lists = Object.entries(SERVICES).flatMap(([resourceType, service]) =>
    service.shape === 'children' ? [] : [[resourceType, service.name, service.property] as const],
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
    const target = claiming(targetOf(resourceType, name), '203.0.113.7/32');
    expect(kinds(await driver.applyChanges(target, [addition(allOf('203.0.113.7/32'))]))).toEqual(['done']);
    const opened = (await tool.get(resourceType))[property]!;
    expect(opened).toMatchObject({ ...stored, ipRules: [...(stored['ipRules'] as object[]), {}] });
    expect(kinds(await driver.applyChanges(target, [remove('203.0.113.7/32')]))).toEqual(['done']);
    expect((await tool.get(resourceType))[property]).toEqual(stored);
  });

  it('take no IPv6 address, and no range of two where the service refuses it', async () => {
    for (const [resourceType, name] of lists) {
      const driver = await driverOf(resourceType, cloud);
      const results = kinds(
        await driver.applyChanges(targetOf(resourceType, name), [
          addition(allOf('2001:db8::7/128')),
          addition(allOf('203.0.113.8/31')),
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
    const driver = await cloud
      .drivers({}, { callTimeoutMs: 6000 })
      .driverFor('AZURE', 'POSTGRESQL_FLEXIBLE_SERVER');
    const target = targetOf('POSTGRESQL_FLEXIBLE_SERVER', 'simulated-postgresql');
    const [first, second] = [addition(allOf('203.0.113.7/32')), addition(allOf('203.0.113.8/32'))];
    expect(await driver.applyChanges(target, [first, second])).toMatchObject([
      { result: 'unknown', message: expect.stringContaining('about a minute') as string, retryAfterMs: 5000 },
      { result: 'refused' },
    ]);
    expect(await thrown(driver.readRules(target))).toBe('conflict');
    expect(kinds(await driver.applyChanges(target, [second]).catch(() => []))).toEqual([]);
    // another process does not know of it, and is refused by the server
    const other = await driverOf('POSTGRESQL_FLEXIBLE_SERVER', cloud);
    expect(kinds(await other.applyChanges(target, [second]))).toEqual(['conflict']);
  });
});
