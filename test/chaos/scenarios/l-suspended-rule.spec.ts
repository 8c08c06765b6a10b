import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { healthOf } from '../../builders/sessions/rule-ledger';
import type { ResourceIp } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { Watch } from '../oracles/watch';

const REPAIRS = 3;

describe('L. A rule that another program keeps removing', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(2));
  let watch: Watch;

  beforeAll(async () => {
    await drawbridge.startWorker({ RECONCILE_SECONDS: '86400' });
    watch = await Watch.begin(drawbridge);
  });

  it('is suspended after three repairs, and shown as such by session and resource until it is present again [L7]', async () => {
    const address = '203.0.113.1';
    const [resourceId] = org.resourceIds as [string];
    const { id } = await org.started({ ipv4Address: address });
    await org.reaches(id, 'ACTIVE');
    watch.expectOutsideChange(group(0), address);
    const isPresent = async (): Promise<boolean> => (await drawbridge.cloud.rules(group(0))).length === 1;
    const shown = async (): Promise<ResourceIp> =>
      (await org.session(id)).resourceIps.find((ip) => ip.resourceId === resourceId)!;
    const outcomes = async (): Promise<number> =>
      (await healthOf(drawbridge, resourceId)).filter(({ eventType }) => eventType.startsWith('RECONCILE'))
        .length;
    const taken = async (): Promise<void> => {
      await drawbridge.cloud.removeByHand(group(0), address);
      const before = await outcomes();
      await org.admin.posted(`/resources/${resourceId}/reconcile`);
      await until('the comparison has an outcome', async () => (await outcomes()) > before);
    };
    for (let repair = 0; repair < REPAIRS; repair += 1) {
      await taken();
      await until('it is present again', isPresent);
      await until('that was observed', async () => {
        const rows = await drawbridge.query(
          `SELECT 1 FROM rules r JOIN targets t ON t.id = r.target_id
           WHERE t.identifier = $1 AND r.address = $2 AND r.state = 'present' AND r.due_at IS NULL`,
          [group(0), `${address}/32`],
        );
        return rows.length === 1;
      });
    }
    expect((await shown()).status).toBe('APPLIED');

    await taken();
    const suspended = await until('the ResourceIp is PENDING', async () => {
      const ip = await shown();
      return ip.status === 'PENDING' && ip;
    });
    expect(suspended.errorMessage).toEqual(expect.stringMatching(/\S/));
    await org.reaches(id, 'PARTIAL');
    const health = await healthOf(drawbridge, resourceId);
    expect(health.at(-1)).toMatchObject({ eventType: 'RECONCILE_FAILED' });
    expect(await isPresent()).toBe(false);

    await drawbridge.query(
      `UPDATE rules r SET due_at = now() FROM targets t
       WHERE t.id = r.target_id AND t.identifier = $1 AND r.address = $2`,
      [group(0), `${address}/32`],
    );
    await org.reaches(id, 'ACTIVE');
    expect(await shown()).toMatchObject({ status: 'APPLIED', errorMessage: null });
    expect(await isPresent()).toBe(true);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    await watch.verify();
  });
});
