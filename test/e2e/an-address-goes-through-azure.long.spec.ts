import { ownOrganization, type Organization } from '../builders/accounts/organization';
import type { Page } from '../builders/contract/page';
import { Drawbridge } from '../harness/product/drawbridge';
import type { OpenRule } from '../harness/product/simulator-client';
import { until } from '../harness/until';

const SUBSCRIPTION = '00000000-0000-4000-8000-000000000001';
const PRINCIPAL = {
  tenantId: '00000000-0000-4000-8000-000000000002',
  clientId: '00000000-0000-4000-8000-000000000003',
  clientSecret: 'simulated-client-secret',
  subscriptionId: SUBSCRIPTION,
};
const GROUP = 'simulated-group/simulated-nsg';
const FULL_ID = `/subscriptions/${SUBSCRIPTION}/resourceGroups/Simulated-Group/providers/Microsoft.Network/networkSecurityGroups/Simulated-NSG`;

interface Created {
  readonly id: string;
}
interface HealthEvent {
  readonly eventType: string;
  readonly message: string | null;
}

/** Addresses are added to a network security group and removed in time, also when several organizations share it. */
describe('Sessions on Azure', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge);

  const azure = async (of: Organization, resourceIdentifier: string, config: object): Promise<string> => {
    const { admin, roleId } = of;
    const credential = await admin.created<Created & { hints: object }>('/credentials', {
      name: 'Simulated Azure',
      provider: 'AZURE',
      credentialType: 'SERVICE_PRINCIPAL',
      credentialData: PRINCIPAL,
    });
    const { clientSecret: _, ...hints } = PRINCIPAL;
    expect(credential.hints).toEqual(hints);
    const resource = await admin.created<Created>('/resources', {
      name: `Azure ${resourceIdentifier}`,
      provider: 'AZURE',
      resourceType: 'NETWORK_SECURITY_GROUP',
      resourceIdentifier,
      credentialId: credential.id,
      config,
    });
    await admin.posted(`/roles/${roleId}/resources/${resource.id}`);
    return resource.id;
  };
  const verified = async (of: Organization, resourceIdentifier: string, config: object): Promise<string> => {
    const id = await azure(of, resourceIdentifier, config);
    expect(await warningsOf(of, id)).toEqual([]);
    return id;
  };
  const warningsOf = async ({ admin }: Organization, id: string): Promise<string[]> =>
    (await admin.posted<{ warnings: string[] }>(`/resources/${id}/verify`)).warnings;
  const open = async (address: string): Promise<string[]> => {
    const response = await fetch(`${drawbridge.cloud.url}/_rules?provider=AZURE`);
    return ((await response.json()) as OpenRule[])
      .filter((rule) => rule.address === address)
      .map((rule) => `${rule.target} ${rule.protocol} ${rule.fromPort} ${rule.ours ? 'ours' : 'unmanaged'}`)
      .toSorted();
  };

  it('a session opens all its ports with one rule for each address, and closes them when it is stopped', async () => {
    const resourceId = await verified(org, GROUP, { ports: [22, 443] });
    const { id } = await org.started({
      resourceIds: [resourceId],
      ipv4Address: '203.0.113.1',
      ipv6Address: '2001:db8::1',
    });
    const active = await org.reaches(id, 'ACTIVE');
    expect(active.resourceIps.every((ip) => /^drawbridge-test-[0-9a-f]{32}$/.test(ip.providerRuleId!))).toBe(
      true,
    );
    const opened = [`${GROUP} tcp 22 ours`, `${GROUP} tcp 443 ours`];
    expect(await open('203.0.113.1')).toEqual(opened);
    expect(await open('2001:db8::1')).toEqual(opened);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect([...(await open('203.0.113.1')), ...(await open('2001:db8::1'))]).toEqual([]);
  });

  it('two organizations that spell a group differently share its rule until their last holder ends', async () => {
    const [mine, theirs] = await Promise.all([
      verified(org, GROUP.toUpperCase(), { port: 3389 }),
      verified(other, FULL_ID, { port: 3389 }),
    ]);
    const ipv4Address = '203.0.113.2';
    const first = await org.started({ resourceIds: [mine], ipv4Address });
    await org.reaches(first.id, 'ACTIVE');
    const second = await other.started({ resourceIds: [theirs], ipv4Address });
    await other.reaches(second.id, 'ACTIVE');
    expect(await open(ipv4Address)).toEqual([`${GROUP} tcp 3389 ours`]);
    await org.admin.posted(`/sessions/${first.id}/stop`);
    await org.reaches(first.id, 'CANCELLED');
    expect(await open(ipv4Address)).toEqual([`${GROUP} tcp 3389 ours`]);
    await other.admin.posted(`/sessions/${second.id}/stop`);
    await other.reaches(second.id, 'CANCELLED');
    expect(await open(ipv4Address)).toEqual([]);
  });

  it('a changed port is opened, and the old one closed, while the session goes on', async () => {
    const resourceId = await verified(org, 'simulated-group/simulated-nsg-2', { port: 22 });
    const ipv4Address = '203.0.113.3';
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address });
    await org.reaches(id, 'ACTIVE');
    await org.admin.expect(200, org.admin.patch(`/resources/${resourceId}`, { config: { port: 2222 } }));
    await until('the new port alone is open', async () => {
      const rules = await open(ipv4Address);
      return rules.length === 1 && rules[0] === 'simulated-group/simulated-nsg-2 tcp 2222 ours';
    });
    await org.reaches(id, 'ACTIVE');
  });

  const control = async (method: string, path: string, body: object): Promise<void> => {
    const target = 'simulated-group/simulated-nsg-3';
    const response = await fetch(`${drawbridge.cloud.url}${path}`, {
      method,
      body: JSON.stringify({ provider: 'AZURE', target, ...body }),
    });
    expect(response.ok).toBe(true);
  };
  const ipOf = async (id: string): Promise<{ status: string; errorMessage: string | null }> =>
    (await org.session(id)).resourceIps[0]!;

  it('a session ends under a delete lock: its rule lets nobody in, and is deleted when the lock is gone', async () => {
    const resourceId = await verified(org, 'simulated-group/simulated-nsg-3', { port: 22 });
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.4' });
    await org.reaches(id, 'ACTIVE');
    await control('PUT', '/_locks', { level: 'CanNotDelete' });
    expect(await warningsOf(org, resourceId)).toEqual([
      expect.stringMatching(
        /^simulated-nsg-3 has a delete lock, .+: access is closed by neutralising the rule/,
      ),
    ]);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    const errorMessage = expect.stringContaining('delete lock keeps the rule object') as string;
    expect(await ipOf(id)).toMatchObject({ status: 'REMOVED', errorMessage });
    expect(await open('203.0.113.4')).toEqual([]);
    await control('PUT', '/_locks', {});
    await org.admin.posted(`/resources/${resourceId}/reconcile`);
    await until('what was left is deleted', async () =>
      (await drawbridge.cloud.calls()).some(
        ({ operation, outcome, target }) =>
          operation === 'DeleteSecurityRule' &&
          outcome === 'OK' &&
          target === 'simulated-group/simulated-nsg-3',
      ),
    );
  });

  it('a denial before the rule of a session is named, by new sessions and by running ones', async () => {
    const resourceId = await verified(org, 'simulated-group/simulated-nsg-3', { port: 22 });
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.5' });
    await org.reaches(id, 'ACTIVE');
    const denial = { address: '203.0.113.0/24', protocol: 'tcp', fromPort: 1, toPort: 1024 };
    await control('POST', '/_rules', { ...denial, access: 'deny', priority: 100 });
    expect(await warningsOf(org, resourceId)).toEqual([
      expect.stringMatching(/may be blocked by unmanaged-[\da-f-]+$/),
    ]);
    const later = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.6' });
    await org.reaches(later.id, 'FAILED');
    const { errorMessage } = await ipOf(later.id);
    expect(errorMessage).toMatch(/^blocked by unmanaged-[\da-f-]+$/);
    await until(
      'the rule of the failed session is gone',
      async () => (await open('203.0.113.6')).length === 0,
    );
    await org.admin.posted(`/resources/${resourceId}/reconcile`);
    await org.reaches(id, 'PARTIAL');
    expect(await ipOf(id)).toMatchObject({ status: 'PENDING', errorMessage });
    await until('the resource tells of it', async () => {
      const { content } = await org.admin.expect(
        200,
        org.admin.get<Page<HealthEvent>>(`/resource-health/events?resourceId=${resourceId}`),
      );
      return content.some(
        ({ eventType, message }) => eventType === 'RECONCILE_FAILED' && message?.includes(errorMessage!),
      );
    });
  });

  it('a priority range whose minimum exceeds its maximum is refused', async () => {
    const { admin } = org;
    const resourceId = await azure(org, GROUP, { priorityFrom: 200, priorityTo: 300 });
    const answer = await admin.patch(`/resources/${resourceId}`, {
      config: { priorityFrom: 300, priorityTo: 200 },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'VALIDATION_ERROR', message: 'config.priorityTo must not be below config.priorityFrom' },
    });
  });

  it('a group has as much room as a resource has priorities', async () => {
    const resourceId = await verified(org, GROUP, { port: 22, priorityFrom: 3000, priorityTo: 3000 });
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.61' });
    await org.reaches(id, 'ACTIVE');
    const full = { used: 1, limit: 1, limitFrom: 'CONFIG' };
    await until('the room is known', async () => {
      const { body } = await org.admin.get<{ room: object[] | null }>(`/resources/${resourceId}`);
      return JSON.stringify(body.room).includes('"limit":1,') && body.room;
    });
    const next = { resourceIds: [resourceId], ipv4Address: '203.0.113.62' };
    expect(await org.admin.posted('/sessions/plan', next)).toMatchObject({
      resources: [{ rules: [{ outcome: 'FULL' }], room: { ...full, after: 2 } }],
    });
    const refused = await org.reaches((await org.started(next)).id, 'FAILED');
    expect(refused.resourceIps[0]!.errorMessage).toMatch(/^The group is full: 1 of 1 rules\. No priority/);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
  });

  it('an unknown group is reported with Azure’s message', async () => {
    const resourceId = await azure(org, 'simulated-group/no-such-group', { port: 22 });
    const answer = await org.admin.post<object>(`/resources/${resourceId}/verify`);
    expect(answer).toMatchObject({ status: 404, body: { error: 'CLOUD_RESOURCE_NOT_FOUND' } });
    expect(JSON.stringify(answer.body)).toContain('ResourceNotFound: The Resource');
  });
});
