import { FaultBench, ownForFaults } from '../../builders/sessions/fault-bench';
import type { SimulatorClient } from '../../harness/product/simulator-client';
import { until } from '../../harness/until';

const ADDRESS = '203.0.113.1';
const unmanaged = (target: string, last: number): Parameters<SimulatorClient['addUnmanaged']>[0] => ({
  target,
  address: `198.51.100.${last}`,
  protocol: 'tcp',
  fromPort: 22,
  toPort: 22,
});

/** What the drivers make of each answer is in test/conformance, what the engine makes of that in the simulation. */
describe('B. Errors of the cloud', () => {
  const drawbridge = ownForFaults();
  let bench: FaultBench;
  let index = 0;

  /** A bench on the next group, for this test. */
  const begin = async (config?: object): Promise<void> => {
    bench = await FaultBench.begin(drawbridge, index % 10, config);
    index += 1;
  };
  afterEach(async () => {
    await bench.holds();
    for (const address of await bench.addresses()) await drawbridge.cloud.removeByHand(bench.group, address);
  });

  const ends = async (id: string): Promise<void> => {
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    expect(await bench.addresses()).toEqual([]);
  };

  it.each([
    ['timeout-after-success', 'B1, B3'],
    ['timeout-before', 'B2, B3'],
    ['partial', 'B14'],
    ['conflict', 'B17'],
    ['html-page', 'B19'],
    ['truncated', 'B19'],
    ['error-in-success', 'B19'],
  ])('two rules are open once after an add with %s, and gone after a removal with it [%s]', async (kind) => {
    await begin({ ports: [22, 443] });
    const onAdd = await bench.breaks({ kind, operation: 'AuthorizeSecurityGroupIngress', count: 1 });
    const id = await bench.open(ADDRESS);
    expect(await bench.addresses()).toEqual([ADDRESS, ADDRESS]);
    await onAdd.clear();
    const onRemove = await bench.breaks({ kind, operation: 'RevokeSecurityGroupIngress', count: 1 });
    await ends(id);
    await onRemove.clear();
  });

  it('an add that timed out but succeeded is removed if it is no longer desired [B1]', async () => {
    await begin();
    const fault = await bench.breaks({
      kind: 'timeout-after-success',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const { id } = await bench.start(ADDRESS);
    await bench.met('Authorize', 'NO_ANSWER');
    await ends(id);
    expect((await bench.calls('Revoke')).map((call) => call.outcome)).toEqual(['OK']);
    await fault.clear();
  });

  it('after InvalidPermission.Duplicate an unmanaged rule is recognized and not removed [B5, C3]', async () => {
    await begin();
    await drawbridge.cloud.addUnmanaged({ ...unmanaged(bench.group, 0), address: ADDRESS });
    const fault = await bench.breaks({
      kind: 'stale-read',
      operation: 'DescribeSecurityGroupRules',
      delayMs: 60_000,
      count: 1,
    });
    const id = await bench.open(ADDRESS);
    await bench.met('Authorize', 'InvalidPermission.Duplicate');
    await fault.clear();
    await bench.stop(id);
    const ended = await bench.org.reaches(id, 'CANCELLED');
    expect(ended.resourceIps[0]!.status).toBe('REMOVED');
    expect((await bench.rules()).map(({ address, ours }) => ({ address, ours }))).toEqual([
      { address: ADDRESS, ours: false },
    ]);
  });

  it('on a full group an unwanted rule is removed, and the add is retried [B13]', async () => {
    await begin();
    const overdue = await bench.open('203.0.113.9');
    const fault = await bench.breaks({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
    await bench.stop(overdue);
    await bench.met('Revoke', 'UnauthorizedOperation');
    for (let last = 1; last <= 7; last += 1)
      await drawbridge.cloud.addUnmanaged(unmanaged(bench.group, last));
    const pause = async (): Promise<number> => {
      const rows = await drawbridge.query(
        `UPDATE rules SET due_at = now() + interval '50 seconds' WHERE address = '203.0.113.9/32' AND attempts > 0
           AND NOT EXISTS (SELECT FROM targets t WHERE t.id = target_id AND t.lease_until > now()) RETURNING 1`,
      );
      return rows.length;
    };
    await until('its removal waits for a retry', async () => (await pause()) === 1);
    await fault.clear();
    const id = await bench.open(ADDRESS);
    expect((await bench.calls('Authorize')).map((call) => call.outcome)).toContain(
      'RulesPerSecurityGroupLimitExceeded',
    );
    await bench.org.reaches(overdue, 'CANCELLED');
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    expect(await bench.rules()).toHaveLength(7);
  });

  it('a rule that was created again with our mark is adopted with its new id [B22]', async () => {
    await begin();
    const id = await bench.open(ADDRESS);
    const [rule] = await drawbridge.query<{ id: string }>(
      `SELECT r.id FROM rules r JOIN targets t ON t.id = r.target_id WHERE t.identifier = $1 AND r.address = $2`,
      [bench.group, `${ADDRESS}/32`],
    );
    bench.watch.expectOutsideChange(bench.group, ADDRESS);
    await drawbridge.cloud.removeByHand(bench.group, ADDRESS);
    const description = `drawbridge:test:${rule!.id}:never`;
    await drawbridge.cloud.addUnmanaged({ ...unmanaged(bench.group, 0), address: ADDRESS, description });
    const [again] = await bench.rules();
    await bench.org.admin.posted(`/resources/${bench.org.resourceIds[0]}/reconcile`);
    await until('the session shows the new id', async () => {
      const { resourceIps } = await bench.org.session(id);
      return resourceIps[0]!.providerRuleId === again!.providerRuleId;
    });
    expect(await bench.addresses()).toEqual([ADDRESS]);
    await ends(id);
  });
});
