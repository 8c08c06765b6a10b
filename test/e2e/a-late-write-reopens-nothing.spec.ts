import { ownOrganization } from '../builders/accounts/organization';
import { verifiedService } from '../builders/resources/services';
import { Drawbridge } from '../harness/product/drawbridge';
import type { CloudCall } from '../harness/product/simulator-client';
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
    resourceId = await verifiedService(org, 'ROUTE', ROUTE);
  });

  const writes = async (): Promise<CloudCall[]> =>
    (await drawbridge.cloud.calls()).filter(({ operation }) => operation === 'PatchObject');

  it('an address that was removed while a write was in progress stays removed once its session reports it', async () => {
    const { id: going } = await org.opened({ resourceIds: [resourceId], ipv4Address: GONE });
    await drawbridge.cloud.fault({
      provider: 'APISIX',
      target: ROUTE,
      operation: 'PatchObject',
      kind: 'slow',
      delayMs: LATE_MS,
      count: 1,
    });
    const staying = await org.started({ resourceIds: [resourceId], ipv4Address: STAYS });
    let late: CloudCall | undefined;
    await until('the late write is under way', async () => {
      late = (await writes()).find(({ outcome }) => outcome === null);
      return late !== undefined;
    });
    await org.reaches(staying.id, 'ACTIVE');
    await org.closed(going);
    await until('the late write has landed', async () => {
      const landed = (await writes()).find(({ at }) => at === late!.at);
      return landed?.outcome === 'OK';
    });
    const open = await drawbridge.cloud.rules(ROUTE, 'APISIX');
    expect(open.map(({ address }) => address)).toEqual([STAYS]);
  });
});
