import { ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import type { CloudCall, OpenRule } from '../harness/product/simulator-client';
import { until } from '../harness/until';

const ROUTE = 'simulated-route-1';
/** Longer than the driver waits for an answer, and within the time that a late write is expected. */
const LATE_MS = 8000;
const GONE = '203.0.113.1';
const STAYS = '203.0.113.2';

/**
 * A gateway's list is written as a whole. A write in doubt that lands after others brings back what
 * has been taken out since: an address counts as out only when no such write can come any more.
 */
describe('A late write reopens nothing', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  let resourceId: string;

  beforeAll(async () => {
    const { admin, roleId } = org;
    const credential = await admin.created<{ id: string }>('/credentials', {
      name: 'Gateway',
      provider: 'APISIX',
      credentialType: 'ADMIN_KEY',
      credentialData: {
        adminUrl: `${drawbridge.cloud.url}/apisix-gateway`,
        adminKey: 'simulated-admin-key',
      },
    });
    const resource = await admin.created<{ id: string }>('/resources', {
      name: 'Route',
      provider: 'APISIX',
      resourceType: 'ROUTE',
      resourceIdentifier: ROUTE,
      credentialId: credential.id,
    });
    resourceId = resource.id;
    await admin.posted(`/roles/${roleId}/resources/${resourceId}`);
    await admin.posted(`/resources/${resourceId}/verify`);
  });

  const active = async (ipv4Address: string): Promise<string> => {
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address });
    await org.reaches(id, 'ACTIVE');
    return id;
  };
  const open = async (): Promise<string[]> => {
    const response = await fetch(`${drawbridge.cloud.url}/_rules?provider=APISIX&target=${ROUTE}`);
    return ((await response.json()) as OpenRule[]).map(({ address }) => address);
  };
  const writes = async (): Promise<CloudCall[]> =>
    (await drawbridge.cloud.calls()).filter(({ operation }) => operation === 'PatchObject');

  it('an address that was removed while a write was in progress stays removed once its session reports it', async () => {
    const going = await active(GONE);
    await fetch(`${drawbridge.cloud.url}/_faults`, {
      method: 'POST',
      body: JSON.stringify({
        provider: 'APISIX',
        target: ROUTE,
        operation: 'PatchObject',
        kind: 'slow',
        delayMs: LATE_MS,
        count: 1,
      }),
    });
    const staying = await org.started({ resourceIds: [resourceId], ipv4Address: STAYS });
    let late: CloudCall | undefined;
    await until('the late write is under way', async () => {
      late = (await writes()).find(({ outcome }) => outcome === null);
      return late !== undefined;
    });
    await org.reaches(staying.id, 'ACTIVE');
    await org.admin.posted(`/sessions/${going}/stop`);
    await org.reaches(going, 'CANCELLED');
    await until('the late write has landed', async () => {
      const landed = (await writes()).find(({ at }) => at === late!.at);
      return landed?.outcome === 'OK';
    });
    expect(await open()).toEqual([STAYS]);
  });
});
