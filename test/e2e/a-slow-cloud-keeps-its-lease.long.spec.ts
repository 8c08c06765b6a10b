import { verifiedService } from '../builders/resources/services';
import { organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';

/** Longer than a lease lasts without being renewed. */
const SLOW_MS = 13_000;

describe('A slow cloud', () => {
  const drawbridge = Drawbridge.own({ simulator: { SIMULATOR_GCP_OPERATION_MS: String(SLOW_MS) } });

  beforeAll(async () => {
    await drawbridge.startWorker();
  });

  it('gets each write once, from one worker', async () => {
    const org = await organization(drawbridge, []);
    await verifiedService(org, 'FIREWALL', 'default', { port: 22 });
    const { id } = await org.started({ ipv4Address: '203.0.113.1' });
    await org.reaches(id, 'ACTIVE', 3 * SLOW_MS);
    const calls = await drawbridge.cloud.calls();
    expect(calls.filter(({ operation }) => operation === 'firewalls.insert')).toHaveLength(1);
  });
});
