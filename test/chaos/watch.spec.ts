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

  const startSession = async (address: string): Promise<string> => {
    const { id } = await org.started({ ipv4Address: address });
    watch.acknowledged(id);
    await org.reaches(id, 'ACTIVE');
    return id;
  };

  it('finds no violation in stopped, expired, extended and live sessions', async () => {
    const [stopped, over, extended] = await Promise.all(
      ['203.0.113.1', '203.0.113.2', '203.0.113.3'].map(startSession),
    );
    const key = { 'Idempotency-Key': 'one' };
    const started = await org.admin.posted<{ id: string }>('/sessions', { ipv4Address: '203.0.113.4' }, key);
    watch.keySent('one', '203.0.113.4', started.id);
    await org.admin.posted(`/sessions/${stopped}/stop`);
    await org.admin.posted(`/sessions/${extended}/extend`, { additionalHours: 1 });
    await org.expire(over!);
    await org.reaches(over!, 'EXPIRED');
    await watch.verify();
    const evidence = await watch.evidence(true);
    expect(evidence.moves.filter((move) => move.kind === 'session' && move.now === 'ACTIVE')).not.toEqual([]);
    expect(evidence.timeline.filter(({ event }) => event === 'closed')).toHaveLength(6);
  });

  it('finds a removed rule, a removed unmanaged rule and a lost session', async () => {
    await startSession('203.0.113.5');
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
    for (const id of ['O2', 'O3', 'O4', 'O5']) expect(found).toMatch(new RegExp(`^${id} `, 'm'));
  });

  it('ignores changes that were announced as changes of another program', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.6' });
    await org.reaches(id, 'ACTIVE');
    watch.expectOutsideChange(group(1), '203.0.113.6');
    await drawbridge.cloud.removeByHand(group(1), '203.0.113.6');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    watch.expectOutsideChange(group(0), '203.0.113.5');
    await expect(watch.verify()).resolves.toBeUndefined();
  });
});
