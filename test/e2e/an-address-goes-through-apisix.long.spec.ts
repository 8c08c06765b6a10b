import { ownOrganization, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import type { OpenRule } from '../harness/product/simulator-client';

const ADMIN_KEY = 'simulated-admin-key';

interface Created {
  readonly id: string;
}
interface Credential extends Created {
  readonly hints: object;
  readonly isValid: boolean | null;
  readonly verificationError: string | null;
}
interface Plugin {
  readonly whitelist: readonly string[];
}

/** Addresses are added to the allow-list of a gateway's route and removed in time, and the list is never empty. */
describe('Sessions on APISIX', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge);
  let gateway: string;

  beforeAll(async () => {
    gateway = `${drawbridge.cloud.url}/apisix-gateway`;
  });

  const credential = (of: Organization, adminUrl = gateway, adminKey = ADMIN_KEY): Promise<Credential> =>
    of.admin.created<Credential>('/credentials', {
      name: 'Simulated gateway',
      provider: 'APISIX',
      credentialType: 'ADMIN_KEY',
      credentialData: { adminUrl, adminKey },
    });
  const resource = async (
    of: Organization,
    credentialId: string,
    resourceIdentifier: string,
    resourceType = 'ROUTE',
  ): Promise<string> => {
    const { admin, roleId } = of;
    const asked = { name: resourceIdentifier, provider: 'APISIX', resourceType, resourceIdentifier };
    const { id } = await admin.created<Created>('/resources', { ...asked, credentialId });
    await admin.posted(`/roles/${roleId}/resources/${id}`);
    return id;
  };
  const verified = async (
    of: Organization,
    resourceIdentifier: string,
    { adminUrl = gateway, resourceType = 'ROUTE' } = {},
  ): Promise<string> => {
    const { id } = await credential(of, adminUrl);
    const resourceId = await resource(of, id, resourceIdentifier, resourceType);
    await of.admin.posted(`/resources/${resourceId}/verify`);
    return resourceId;
  };
  const open = async (target: string): Promise<string[]> => {
    const response = await fetch(`${drawbridge.cloud.url}/_rules?provider=APISIX&target=${target}`);
    const rules = (await response.json()) as OpenRule[];
    return rules.map(({ address, ours }) => `${address} ${ours ? 'ours' : 'unmanaged'}`).toSorted();
  };
  /** An edit with the gateway's own key. */
  const patch = async (path: string, body: unknown): Promise<void> => {
    const response = await fetch(`${gateway}/apisix/admin/${path}`, {
      method: 'PATCH',
      headers: { 'x-api-key': ADMIN_KEY },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
  };
  const whitelist = async (path: string): Promise<readonly string[]> => {
    const response = await fetch(`${gateway}/apisix/admin/${path}`, { headers: { 'x-api-key': ADMIN_KEY } });
    const { value } = (await response.json()) as { value: { plugins: { 'ip-restriction': Plugin } } };
    return value.plugins['ip-restriction'].whitelist;
  };

  it('a session adds its addresses to unmanaged ones, and removes only its own', async () => {
    const unmanaged = ['10.0.0.0/8', '203.0.113.1', '2001:DB8::77'];
    await patch('routes/simulated-route-1/plugins/ip-restriction/whitelist', unmanaged);
    const resourceId = await verified(org, 'simulated-route-1');
    const addresses = { ipv4Address: '203.0.113.9', ipv6Address: '2001:db8::9' };
    const { id } = await org.started({ resourceIds: [resourceId], ...addresses });
    const active = await org.reaches(id, 'ACTIVE');
    expect(active.resourceIps.map(({ providerRuleId }) => providerRuleId!).toSorted()).toEqual([
      'routes/simulated-route-1#2001:db8::9/128',
      'routes/simulated-route-1#203.0.113.9/32',
    ]);
    expect(await open('simulated-route-1')).toEqual([
      '10.0.0.0/8 unmanaged',
      '2001:db8::77 unmanaged',
      '2001:db8::9 ours',
      '203.0.113.1 unmanaged',
      '203.0.113.9 ours',
    ]);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await whitelist('routes/simulated-route-1')).toEqual(['0.0.0.0/32', ...unmanaged]);
  });

  it.each([
    ['ROUTE', 'simulated-route-2', 'routes'],
    ['SERVICE', 'simulated-service', 'services'],
    ['CONSUMER_GROUP', 'simulated-consumer-group', 'consumer_groups'],
    ['PLUGIN_CONFIG', 'simulated-plugin-config', 'plugin_configs'],
    ['GLOBAL_RULE', 'simulated-global-rule', 'global_rules'],
  ])('a %s stays closed after its last address is removed', async (resourceType, name, collection) => {
    const resourceId = await verified(org, name, { resourceType });
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.2' });
    await org.reaches(id, 'ACTIVE');
    expect(await open(name)).toEqual(['203.0.113.2 ours']);
    await org.expire(id);
    await org.reaches(id, 'EXPIRED');
    expect(await open(name)).toEqual([]);
    expect(await whitelist(`${collection}/${name}`)).toEqual(['0.0.0.0/32']);
  });

  it('two organizations that spell a gateway differently share an entry until their last holder ends', async () => {
    const [mine, theirs] = await Promise.all([
      verified(org, 'simulated-route-3'),
      verified(other, 'simulated-route-3', { adminUrl: `${gateway}/apisix/admin/` }),
    ]);
    const ipv4Address = '203.0.113.3';
    const first = await org.started({ resourceIds: [mine], ipv4Address });
    await org.reaches(first.id, 'ACTIVE');
    const second = await other.started({ resourceIds: [theirs], ipv4Address });
    await other.reaches(second.id, 'ACTIVE');
    await org.admin.posted(`/sessions/${first.id}/stop`);
    await org.reaches(first.id, 'CANCELLED');
    expect(await open('simulated-route-3')).toEqual(['203.0.113.3 ours']);
    await other.admin.posted(`/sessions/${second.id}/stop`);
    await other.reaches(second.id, 'CANCELLED');
    expect(await open('simulated-route-3')).toEqual([]);
  });

  it.each([
    ['an address', '203.0.113.4', '203.0.113.4'],
    ['an address spelled as ours', '203.0.113.6/32', '203.0.113.6'],
  ])('an unmanaged entry (%s) is kept after a session on the same address', async (_, entry, address) => {
    const resourceId = await verified(org, 'simulated-route-4');
    await patch('routes/simulated-route-4/plugins/ip-restriction/whitelist', [entry]);
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: address });
    await org.reaches(id, 'ACTIVE');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await whitelist('routes/simulated-route-4')).toEqual([entry]);
  });

  it('an address that another program adds during the session is kept', async () => {
    const resourceId = await verified(org, 'simulated-route-2');
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.5' });
    await org.reaches(id, 'ACTIVE');
    await patch('routes/simulated-route-2/plugins/ip-restriction/whitelist', [
      ...(await whitelist('routes/simulated-route-2')),
      '203.0.113.5',
    ]);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await whitelist('routes/simulated-route-2')).toEqual(['0.0.0.0/32', '203.0.113.5']);
  });

  it('verify refuses a route without ip-restriction', async () => {
    await patch('routes/simulated-route-5', { plugins: { 'ip-restriction': null } });
    expect(await open('simulated-route-5')).toEqual(['0.0.0.0/0 unmanaged', '::/0 unmanaged']);
    const { id } = await credential(org);
    const resourceId = await resource(org, id, 'simulated-route-5');
    const answer = await org.admin.post<{ message: string }>(`/resources/${resourceId}/verify`);
    expect(answer).toMatchObject({ status: 400, body: { error: 'VERIFICATION_FAILED' } });
    expect(answer.body.message).toContain('has no plugin ip-restriction');
  });

  it('a list that is asked for some requests only is refused, and named on running sessions until it is in order', async () => {
    const resourceId = await verified(org, 'simulated-route-1');
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.11' });
    await org.reaches(id, 'ACTIVE');
    const meta = 'routes/simulated-route-1/plugins/ip-restriction/_meta';
    await patch(meta, { filter: [['arg_debug', '!=', '1']] });
    expect(await org.admin.post(`/resources/${resourceId}/verify`)).toMatchObject({ status: 400 });
    const reconciled = async (status: string): Promise<unknown> => {
      await org.admin.posted(`/resources/${resourceId}/reconcile`);
      return (await org.reaches(id, status)).resourceIps[0];
    };
    const errorMessage = expect.stringContaining('may let everybody in') as string;
    expect(await reconciled('PARTIAL')).toMatchObject({ status: 'PENDING', errorMessage });
    await patch(meta, {});
    expect(await reconciled('ACTIVE')).toMatchObject({ status: 'APPLIED', errorMessage: null });
    await patch(meta, { disable: true });
    await reconciled('PARTIAL');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await whitelist('routes/simulated-route-1')).not.toContain('203.0.113.11/32');
    await patch(meta, {});
  });

  it('verify answers 404 for a route that the gateway does not know', async () => {
    const { id } = await credential(org);
    const resourceId = await resource(org, id, 'no-such-route');
    expect(await org.admin.post(`/resources/${resourceId}/verify`)).toMatchObject({
      status: 404,
      body: { error: 'CLOUD_RESOURCE_NOT_FOUND' },
    });
  });

  it('verify refuses a read-only key', async () => {
    const { id } = await credential(org, gateway, 'simulated-viewer-key');
    const resourceId = await resource(org, id, 'simulated-route-1');
    const answer = await org.admin.post<{ message: string }>(`/resources/${resourceId}/verify`);
    expect(answer).toMatchObject({ status: 400, body: { error: 'VERIFICATION_FAILED' } });
    expect(answer.body.message).toContain('may read only');
  });

  it('a config with a port is refused', async () => {
    const { id } = await credential(org);
    const answer = await org.admin.post('/resources', {
      name: 'With a port',
      provider: 'APISIX',
      resourceType: 'ROUTE',
      resourceIdentifier: 'simulated-route-1',
      credentialId: id,
      config: { port: 443 },
    });
    expect(answer).toMatchObject({ status: 400, body: { error: 'VALIDATION_ERROR' } });
  });

  it('a credential cannot point to a metadata address, directly or by name, and shows only its URL', async () => {
    const refused = await org.admin.post<{ message: string }>('/credentials', {
      name: 'Metadata',
      provider: 'APISIX',
      credentialType: 'ADMIN_KEY',
      credentialData: { adminUrl: 'http://0xa9fea9fe/latest', adminKey: 'k' },
    });
    expect(refused).toMatchObject({ status: 400, body: { error: 'VALIDATION_ERROR' } });
    expect(refused.body.message).toContain('must not lead to a link-local, metadata or reserved address');
    const created = await credential(org, 'http://10.0.0.1:9180');
    expect(created.hints).toEqual({ adminUrl: 'http://10.0.0.1:9180' });
    const checked = await org.admin.posted<Credential>(`/credentials/${created.id}/verify`);
    expect(checked.isValid).toBe(false);
    expect(checked.verificationError).toContain('this deployment lets no credential lead to');
  });
});
