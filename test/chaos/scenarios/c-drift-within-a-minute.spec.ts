import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { Watch } from '../oracles/watch';

const GROUPS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('C. Drift is repaired within a minute, without a request', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, sshTo(GROUPS));
  let watch: Watch;

  beforeAll(async () => {
    watch = await Watch.begin(drawbridge);
  });
  afterEach(() => watch.verify());

  it('removed rules are added again, and orphans are removed [C1] [C5] [R17]', async () => {
    const address = '203.0.113.1';
    const { id } = await org.started({ ipv4Address: address });
    await org.reaches(id, 'ACTIVE');
    const changedAt = Date.now() * 1000;
    for (const index of GROUPS) {
      watch.expectOutsideChange(group(index), address);
      watch.expectOutsideChange(group(index), '203.0.113.2');
      await drawbridge.cloud.removeByHand(group(index), address);
      await drawbridge.cloud.addUnmanaged({
        target: group(index),
        address: '203.0.113.2',
        protocol: 'tcp',
        fromPort: 22,
        toPort: 22,
        description: 'drawbridge:test:00000000-0000-4000-8000-000000000000:1700000000',
      });
    }
    // how soon a worker with nothing else to do compares them: a busy machine is no failure
    const [due] = await drawbridge.query(
      `SELECT count(*)::int FROM targets WHERE reconcile_due_at < now() + interval '1 minute'`,
    );
    expect(due).toEqual({ count: GROUPS.length });
    const isRepaired = async (): Promise<boolean> => {
      const rules = await drawbridge.cloud.rules();
      return rules.length === GROUPS.length && rules.every((rule) => rule.address === address);
    };
    await until('every group has exactly our rule', isRepaired, 200_000);
    const repairs = (await drawbridge.cloud.timeline(changedAt)).filter(
      (entry) =>
        (entry.event === 'opened' && entry.address === address) ||
        (entry.event === 'closed' && entry.address === '203.0.113.2'),
    );
    const seconds = repairs.map((entry) => (entry.at - changedAt) / 1e6).toSorted((a, b) => a - b);
    process.stdout.write(
      `R17: ${seconds.length} changes by another program repaired, p50 ${seconds[Math.floor(seconds.length / 2)]!.toFixed(1)} s, max ${seconds.at(-1)!.toFixed(1)} s\n`,
    );
    expect(seconds).toHaveLength(2 * GROUPS.length);
    expect((await org.session(id)).status).toBe('ACTIVE');
  });
});
