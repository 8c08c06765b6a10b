import { group, organization, type Organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';

/** Each case kills the only worker at a point, looks at the ground truth, and starts another. */
describe('A worker killed with SIGKILL loses nothing', () => {
  let drawbridge: Drawbridge;
  let org: Organization;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start();
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
  });
  afterAll(() => drawbridge.stop());

  const openings = async (address: string): Promise<number> =>
    (await drawbridge.cloud.rules()).filter((rule) => rule.address === address).length;

  const killAndReplaceWorker = async (): Promise<void> => {
    await drawbridge.worker.stop('SIGKILL');
    await drawbridge.cloud.clearFaults();
    await drawbridge.startWorker();
  };

  it('between the cloud call that added the rule and its record: the rule is found again, not doubled', async () => {
    await drawbridge.cloud.fault({
      kind: 'timeout-after-success',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const { id } = await org.started({ ipv4Address: '203.0.113.60' });
    await until('the cloud has the rule', async () => (await openings('203.0.113.60')) === 1);
    expect((await org.session(id)).status).toBe('PENDING');
    await killAndReplaceWorker();
    const active = await org.reaches(id, 'ACTIVE');
    expect(active.resourceIps[0]!.providerRuleId).toMatch(/^sgr-/);
    const opened = (await drawbridge.cloud.timeline()).filter((entry) => entry.address === '203.0.113.60');
    expect(opened.map((entry) => entry.event)).toEqual(['opened']);
  });

  it('between the cloud call that removed the rule and its record: REMOVED, and no error', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.61' });
    await org.reaches(id, 'ACTIVE');
    await drawbridge.cloud.fault({
      kind: 'timeout-after-success',
      operation: 'RevokeSecurityGroupIngress',
      count: 1,
    });
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await until('the cloud has lost the rule', async () => (await openings('203.0.113.61')) === 0);
    expect((await org.session(id)).status).toBe('EXPIRING');
    await killAndReplaceWorker();
    const ended = await org.reaches(id, 'CANCELLED', 30_000);
    expect(ended.resourceIps[0]).toMatchObject({ status: 'REMOVED', errorMessage: null });
  });

  it('before the cloud heard of it: the next worker does it', async () => {
    await drawbridge.cloud.fault({
      kind: 'timeout-before',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const { id } = await org.started({ ipv4Address: '203.0.113.62' });
    await until(
      'the worker has asked',
      async () =>
        (
          await drawbridge.query('SELECT 1 FROM rules WHERE address = $1 AND in_flight_until IS NOT NULL', [
            '203.0.113.62/32',
          ])
        ).length > 0,
    );
    await killAndReplaceWorker();
    await org.reaches(id, 'ACTIVE');
    expect(await openings('203.0.113.62')).toBe(1);
  });

  it('stopped while the add is unknown: whatever the add did, nothing is left open', async () => {
    await drawbridge.cloud.fault({
      kind: 'timeout-after-success',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const { id } = await org.started({ ipv4Address: '203.0.113.63' });
    await until('the cloud has the rule', async () => (await openings('203.0.113.63')) === 1);
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await killAndReplaceWorker();
    await org.reaches(id, 'CANCELLED', 40_000);
    expect(await openings('203.0.113.63')).toBe(0);
  });

  it('with no worker at all a session is accepted, and done when one comes', async () => {
    await drawbridge.worker.stop('SIGKILL');
    const { id } = await org.started({ ipv4Address: '203.0.113.64' });
    expect((await org.session(id)).status).toBe('PENDING');
    await drawbridge.startWorker();
    await org.reaches(id, 'ACTIVE');
  });
});
