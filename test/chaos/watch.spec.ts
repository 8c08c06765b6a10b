import { group, ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { CLOCK_TOLERANCE_MS } from './oracles/bounds';
import { Watch } from './oracles/watch';

const UNMANAGED = { target: group(0), address: '192.0.2.1', protocol: 'tcp', fromPort: 22, toPort: 22 };

describe('Watch', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, [
    { group: group(0), config: { ports: [22, 443] } },
    { group: group(1) },
  ]);
  let watch: Watch;

  beforeEach(async () => {
    await drawbridge.cloud.addUnmanaged({ ...UNMANAGED, address: `192.0.2.${Date.now() % 250}` });
    watch = await Watch.begin(drawbridge);
  });

  it('finds a removed rule, a removed unmanaged rule and a lost session', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.5' });
    watch.acknowledged(id);
    await org.reaches(id, 'ACTIVE');
    await drawbridge.cloud.removeByHand(group(0), '203.0.113.5');
    const unmanaged = (await drawbridge.cloud.rules(group(0))).find((rule) => !rule.ours)!;
    await drawbridge.cloud.removeByHand(group(0), unmanaged.address);
    watch.acknowledged('a-session-that-was-lost');
    const removedAt = Date.now();
    await until('it has been missing for longer than clocks differ', () =>
      Promise.resolve(Date.now() > removedAt + 2 * CLOCK_TOLERANCE_MS),
    );
    const found = await watch.verify().then(
      () => '',
      (error: Error) => error.message,
    );
    for (const oracle of ['O2', 'O3', 'O4', 'O5']) expect(found).toMatch(new RegExp(`^${oracle} `, 'm'));
  });
});
