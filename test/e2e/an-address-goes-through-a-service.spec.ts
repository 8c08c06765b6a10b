import { ownOrganization } from '../builders/accounts/organization';
import { simulatedObjects } from '../builders/resources/driver-load';
import { SERVICES, verifiedService, type ServiceType } from '../builders/resources/services';
import { Drawbridge } from '../harness/product/drawbridge';

const [, CLUSTER] = SERVICES.EKS_CLUSTER;

describe('Sessions on every type of target', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const listOpen = async (provider: string, target: string): Promise<string[]> =>
    (await drawbridge.cloud.rules(target, provider)).map(({ address }) => address);

  it.each(Object.keys(SERVICES) as ServiceType[])(
    'a session opens %s for its address, and closes it when it is stopped',
    async (resourceType) => {
      const [provider, target] = SERVICES[resourceType];
      const resourceId = await verifiedService(org, resourceType);
      const { id } = await org.opened({ resourceIds: [resourceId], ipv4Address: '203.0.113.21' });
      expect(await listOpen(provider, target)).toEqual(['203.0.113.21']);
      await org.closed(id);
      expect(await listOpen(provider, target)).toEqual([]);
    },
  );

  it.each<[ServiceType, object, string]>([
    ['PREFIX_LIST', { port: 443 }, 'PREFIX_LIST'],
    ['ROUTE', { port: 443 }, 'ROUTE'],
    ['FIREWALL_RULE', { port: 443 }, 'hostname, pathPrefix'],
    ['NETWORK_SECURITY_GROUP', { priorityFrom: 300, priorityTo: 200 }, 'config.priorityTo must not be below'],
    ['FIREWALL', { priority: 65_536 }, 'config.priority'],
    ['FIREWALL', { priority: -1 }, 'config.priority'],
    ['FIREWALL', { targetServiceAccounts: ['nobody'] }, 'config.targetServiceAccounts'],
    ['FIREWALL', { targetTags: ['web'], targetServiceAccounts: ['db@p.iam.gserviceaccount.com'] }, 'config'],
  ])('%s takes no config of %j', async (resourceType, config, words) => {
    const resourceId = await verifiedService(org, resourceType);
    expect(await org.admin.patch(`/resources/${resourceId}`, { config })).toMatchObject({
      status: 400,
      body: { error: 'VALIDATION_ERROR', message: expect.stringContaining(words) as string },
    });
  });

  it('an address says by when its provider acts on it, where that is later', async () => {
    const resourceId = await verifiedService(org, 'KEY_VAULT');
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.22' });
    const { resourceIps } = await org.reaches(id, 'ACTIVE');
    const [{ appliedAt, effectiveBy }] = resourceIps as unknown as [
      { appliedAt: string; effectiveBy: string },
    ];
    expect(Date.parse(effectiveBy) - Date.parse(appliedAt)).toBe(600_000);
    await org.closed(id);
    // out of the list is not yet refused
    const report = `/reports/access?address=203.0.113.22&at=${new Date().toISOString()}`;
    const items = (await org.admin.get<{ possibleUntil: string }[]>(report)).body;
    expect(items).toHaveLength(1);
    const possibleMs = Date.parse(items[0]!.possibleUntil) - Date.now();
    expect(possibleMs).toBeGreaterThan(500_000);
    expect(possibleMs).toBeLessThanOrEqual(600_000);
    const events = `/sessions/${id}/events`;
    const [closed] = (await org.admin.get<{ firstObservedAfter: string }[]>(events)).body;
    expect(Date.parse(closed!.firstObservedAfter)).toBeLessThanOrEqual(Date.now());
  });

  it('ten starts at once change the endpoint of a cluster at most twice', async () => {
    const resourceId = await verifiedService(org, 'EKS_CLUSTER');
    const updates = async (): Promise<number> =>
      (await drawbridge.cloud.calls()).filter(
        ({ operation, outcome }) => operation === 'UpdateClusterConfig' && outcome === 'OK',
      ).length;
    const before = await updates();
    const started = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        org.started({ resourceIds: [resourceId], ipv4Address: `203.0.113.${100 + index}` }),
      ),
    );
    for (const { id } of started) await org.reaches(id, 'ACTIVE');
    expect((await updates()) - before).toBeLessThanOrEqual(2);
    expect(await listOpen('AWS', CLUSTER)).toHaveLength(10);
  });

  it('a region in an ARN is stored, and another one is refused', async () => {
    const body = {
      name: 'cluster',
      provider: 'AWS',
      resourceType: 'EKS_CLUSTER',
      resourceIdentifier: CLUSTER,
      credentialId: org.credentialId,
      config: {},
    };
    const { region } = await org.admin.created<{ region: string }>('/resources', body);
    expect(region).toBe('eu-central-1');
    const refused = await org.admin.post<{ message: string }>('/resources', { ...body, region: 'eu-west-1' });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'region must be left out, or be eu-central-1, the region in the ARN',
    ]);
  });

  it('a credential has one role for several types of resources, and refuses what its provider has not', async () => {
    const { credentialType, data } = simulatedObjects('').AZURE.credential;
    const { id: azure } = await org.admin.created<{ id: string }>('/credentials', {
      name: 'Azure services',
      provider: 'AZURE',
      credentialType,
      credentialData: data,
    });
    const { body } = await org.admin.get<{ policy: string }>(
      `/credentials/${azure}/setup?resourceType=SQL_SERVER&resourceType=KEY_VAULT`,
    );
    const { Actions } = JSON.parse(body.policy) as { Actions: string[] };
    expect(Actions).toEqual(
      expect.arrayContaining([
        'Microsoft.Sql/servers/firewallRules/write',
        'Microsoft.KeyVault/vaults/write',
      ]),
    );
    const refused = await org.admin.get<{ message: string }>(
      `/credentials/${azure}/setup?resourceType=SECURITY_GROUP`,
    );
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('resourceType')]);
  });
});
