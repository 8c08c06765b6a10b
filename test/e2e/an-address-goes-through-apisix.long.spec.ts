import { ownOrganization } from '../builders/accounts/organization';
import { verifiedService } from '../builders/resources/services';
import { Drawbridge } from '../harness/product/drawbridge';

interface Restriction {
  readonly whitelist: readonly string[];
}

/** What the engine knows of a list that cannot be marked: which of its entries are ours. */
describe('Sessions on APISIX', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);

  /** A request with the gateway's own key. */
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${drawbridge.cloud.url}/apisix-gateway/apisix/admin/routes/${path}`, {
      method,
      headers: { 'x-api-key': 'simulated-admin-key' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return response.json();
  };
  const write = (route: string, entries: readonly string[]): Promise<unknown> =>
    ask('PATCH', `${route}/plugins/ip-restriction/whitelist`, entries);
  const whitelist = async (route: string): Promise<readonly string[]> => {
    const { value } = (await ask('GET', route)) as {
      value: { plugins: { 'ip-restriction': Restriction } };
    };
    return value.plugins['ip-restriction'].whitelist;
  };

  it('a session adds its addresses to unmanaged ones, and removes only its own', async () => {
    const route = 'simulated-route-1';
    const unmanaged = ['10.0.0.0/8', '203.0.113.1', '2001:DB8::77'];
    await write(route, unmanaged);
    const resourceIds = [await verifiedService(org, 'ROUTE', route)];
    const { id } = await org.started({
      resourceIds,
      ipv4Address: '203.0.113.9',
      ipv6Address: '2001:db8::9',
    });
    const active = await org.reaches(id, 'ACTIVE');
    const ours = ['2001:db8::9/128', '203.0.113.9/32'];
    expect(active.resourceIps.map(({ providerRuleId }) => providerRuleId!).toSorted()).toEqual(
      ours.map((entry) => `routes/${route}#${entry}`),
    );
    expect((await whitelist(route)).toSorted()).toEqual(['0.0.0.0/32', ...unmanaged, ...ours].toSorted());
    await org.closed(id);
    expect(await whitelist(route)).toEqual(['0.0.0.0/32', ...unmanaged]);
  });

  it.each([
    ['an address', '203.0.113.4', '203.0.113.4'],
    ['an address spelled as ours', '203.0.113.6/32', '203.0.113.6'],
  ])('an unmanaged entry (%s) is kept after a session on the same address', async (_, entry, ipv4Address) => {
    const route = 'simulated-route-4';
    const resourceIds = [await verifiedService(org, 'ROUTE', route)];
    await write(route, [entry]);
    const { id } = await org.opened({ resourceIds, ipv4Address });
    await org.closed(id);
    expect(await whitelist(route)).toEqual([entry]);
  });
});
