import { ownOrganization } from '../builders/accounts/organization';
import { verifiedService } from '../builders/resources/services';
import { healthOf } from '../builders/sessions/rule-ledger';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const GROUP = 'simulated-group/simulated-nsg-3';

describe('Sessions on a network security group of Azure', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  let resourceId: string;

  beforeEach(async () => {
    resourceId = await verifiedService(org, 'NETWORK_SECURITY_GROUP', GROUP, { port: 22 });
  });

  const started = async (ipv4Address: string): Promise<string> =>
    (await org.started({ resourceIds: [resourceId], ipv4Address })).id;
  const countOpen = async (address: string): Promise<number> =>
    (await drawbridge.cloud.rules(GROUP, 'AZURE')).filter((rule) => rule.address === address).length;
  const warnings = async (): Promise<string[]> =>
    (await org.admin.posted<{ warnings: string[] }>(`/resources/${resourceId}/verify`)).warnings;
  const control = async (method: string, path: string, body: object): Promise<void> => {
    const response = await fetch(`${drawbridge.cloud.url}${path}`, {
      method,
      body: JSON.stringify({ provider: 'AZURE', target: GROUP, ...body }),
    });
    expect(response.ok).toBe(true);
  };
  const ipOf = async (id: string): Promise<{ status: string; errorMessage: string | null }> =>
    (await org.session(id)).resourceIps[0]!;

  it('end under a delete lock: the rule lets nobody in, and is deleted when the lock is gone', async () => {
    const id = await started('203.0.113.4');
    await org.reaches(id, 'ACTIVE');
    await control('PUT', '/_locks', { level: 'CanNotDelete' });
    expect(await warnings()).toEqual([
      expect.stringMatching(
        /^simulated-nsg-3 has a delete lock, .+: access is closed by neutralising the rule/,
      ),
    ]);
    await org.closed(id);
    const errorMessage = expect.stringContaining('delete lock keeps the rule object') as string;
    expect(await ipOf(id)).toMatchObject({ status: 'REMOVED', errorMessage });
    expect(await countOpen('203.0.113.4')).toBe(0);
    await control('PUT', '/_locks', {});
    await org.admin.posted(`/resources/${resourceId}/reconcile`);
    await until('what was left is deleted', async () =>
      (await drawbridge.cloud.calls()).some(
        ({ operation, outcome, target }) =>
          operation === 'DeleteSecurityRule' && outcome === 'OK' && target === GROUP,
      ),
    );
  });

  it('name a denial before their rule, new ones and running ones', async () => {
    const id = await started('203.0.113.5');
    await org.reaches(id, 'ACTIVE');
    const denial = { address: '203.0.113.0/24', protocol: 'tcp', fromPort: 1, toPort: 1024 };
    await control('POST', '/_rules', { ...denial, access: 'deny', priority: 100 });
    expect(await warnings()).toEqual([expect.stringMatching(/may be blocked by unmanaged-[\da-f-]+$/)]);
    const later = await started('203.0.113.6');
    await org.reaches(later, 'FAILED');
    const { errorMessage } = await ipOf(later);
    expect(errorMessage).toMatch(/^blocked by unmanaged-[\da-f-]+$/);
    await until('the rule of the failed session is gone', async () => (await countOpen('203.0.113.6')) === 0);
    await org.admin.posted(`/resources/${resourceId}/reconcile`);
    await org.reaches(id, 'PARTIAL');
    expect(await ipOf(id)).toMatchObject({ status: 'PENDING', errorMessage });
    await until('the resource tells of it', async () =>
      (await healthOf(drawbridge, resourceId)).some(
        ({ eventType, message }) => eventType === 'RECONCILE_FAILED' && message?.includes(errorMessage!),
      ),
    );
  });
});
