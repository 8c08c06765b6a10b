import { FaultBench, ownForFaults } from '../../builders/sessions/fault-bench';
import { group, organization } from '../../builders/accounts/organization';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const ADDRESS = '203.0.113.1';
const unmanaged = (target: string, last: number): Parameters<Drawbridge['cloud']['addUnmanaged']>[0] => ({
  target,
  address: `198.51.100.${last}`,
  protocol: 'tcp',
  fromPort: 22,
  toPort: 22,
});

describe('B. Errors of the cloud', () => {
  const drawbridge = ownForFaults();
  let bench: FaultBench;
  let index = 0;

  beforeEach(async () => {
    bench = await FaultBench.begin(drawbridge, index % 10);
    index += 1;
  });
  afterEach(async () => {
    await bench.holds();
    for (const address of await bench.addresses()) await drawbridge.cloud.removeByHand(bench.group, address);
  });

  const ends = async (id: string): Promise<void> => {
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    expect(await bench.addresses()).toEqual([]);
  };

  it('an add that timed out but succeeded is adopted [B1]', async () => {
    const fault = await bench.breaks({
      kind: 'timeout-after-success',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const id = await bench.open(ADDRESS);
    expect(await bench.calls('Authorize')).toHaveLength(1);
    expect(await bench.addresses()).toEqual([ADDRESS]);
    await fault.clear();
    await ends(id);
  });

  it('an add that timed out but succeeded is removed if it is no longer desired [B1]', async () => {
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

  it('an add that timed out and failed is sent again, and the rule is present once [B2]', async () => {
    const fault = await bench.breaks({
      kind: 'timeout-before',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const id = await bench.open(ADDRESS);
    expect((await bench.calls('Authorize')).map((call) => call.outcome)).toEqual(['NO_ANSWER', 'OK']);
    expect(await bench.addresses()).toEqual([ADDRESS]);
    await fault.clear();
    await ends(id);
  });

  it.each(['timeout-after-success', 'timeout-before'])(
    'a removal with %s is settled by a read [B3]',
    async (kind) => {
      const id = await bench.open(ADDRESS);
      const fault = await bench.breaks({ kind, operation: 'RevokeSecurityGroupIngress', count: 1 });
      await ends(id);
      const calls = await bench.calls();
      const last = calls.findLastIndex((call) => call.operation.startsWith('Revoke'));
      expect(calls.slice(last + 1).map((call) => call.operation)).toContain('DescribeSecurityGroupRules');
      await fault.clear();
    },
  );

  it('after InvalidPermission.Duplicate an unmanaged rule is recognized and not removed [B5]', async () => {
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
    await bench.org.reaches(id, 'CANCELLED');
    expect((await bench.rules()).map(({ address, ours }) => ({ address, ours }))).toEqual([
      { address: ADDRESS, ours: false },
    ]);
  });

  it('after a removal of an absent rule a fresh read confirms its absence [B6]', async () => {
    const id = await bench.open(ADDRESS);
    bench.watch.expectOutsideChange(bench.group, ADDRESS);
    await drawbridge.cloud.removeByHand(bench.group, ADDRESS);
    await ends(id);
    const calls = await bench.calls();
    const refused = calls.findIndex((call) => call.outcome === 'InvalidSecurityGroupRuleId.NotFound');
    expect(refused).toBeGreaterThan(0);
    expect(calls.slice(refused + 1)).toContainEqual(
      expect.objectContaining({ operation: 'DescribeSecurityGroupRules', outcome: 'OK' }),
    );
  });

  it('calls that are never answered delay only their own target [B9]', async () => {
    const other = await FaultBench.begin(drawbridge, index % 10);
    index += 1;
    const id = await bench.open(ADDRESS);
    const fault = await bench.breaks({ kind: 'timeout-before' });
    await bench.stop(id);
    for (const address of ['203.0.113.2', '203.0.113.3', '203.0.113.4']) {
      const otherId = await other.open(address);
      await other.stop(otherId);
      await other.org.reaches(otherId, 'CANCELLED');
    }
    expect((await bench.org.session(id)).status).toBe('EXPIRING');
    await fault.clear();
    await bench.org.reaches(id, 'CANCELLED');
  });

  it('a target that answers after ten seconds delays no other target [B10]', async () => {
    const other = await FaultBench.begin(drawbridge, index % 10);
    index += 1;
    const id = await bench.open(ADDRESS);
    const fault = await bench.breaks({ kind: 'slow', delayMs: 10_000 });
    await bench.stop(id);
    for (const address of ['203.0.113.4', '203.0.113.5']) {
      const otherId = await other.open(address);
      await other.stop(otherId);
      await other.org.reaches(otherId, 'CANCELLED');
    }
    // no answer came within the five seconds that a call may take: the target is still tried
    expect((await bench.org.session(id)).status).toBe('EXPIRING');
    await fault.clear();
    await bench.org.reaches(id, 'CANCELLED');
  });

  it('stale reads cause neither a wrong APPLIED nor a wrong REMOVED [B12]', async () => {
    const lag = { kind: 'stale-read', operation: 'DescribeSecurityGroupRules' } as const;
    const first = await bench.breaks({ ...lag, delayMs: 3000, count: 3 });
    const id = await bench.open(ADDRESS);
    expect(await bench.addresses()).toEqual([ADDRESS]);
    await first.clear();
    const second = await bench.breaks({ ...lag, delayMs: 120_000, count: 2 });
    await ends(id);
    await second.clear();
  });

  it('on a full group an unwanted rule is removed, and the add is retried [B13]', async () => {
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

  it('a group full of unmanaged rules fails only the rule on this group [B13]', async () => {
    const { group: target } = bench;
    for (let last = 1; last <= 8; last += 1) await drawbridge.cloud.addUnmanaged(unmanaged(target, last));
    const elsewhere = group((index + 1) % 10);
    const org = await organization(drawbridge, [
      { group: target, config: { port: 22 } },
      { group: elsewhere, config: { port: 22 } },
    ]);
    const { id } = await org.started({ ipv4Address: '203.0.113.77' });
    const partial = await org.reaches(id, 'PARTIAL');
    const [full, fine] = org.resourceIds.map((resource) =>
      partial.resourceIps.find(({ resourceId }) => resourceId === resource),
    );
    expect(full).toMatchObject({
      status: 'FAILED',
      errorMessage: expect.stringMatching(/maximum number of rules/) as string,
    });
    expect(fine).toMatchObject({ status: 'APPLIED', errorMessage: null });
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect((await bench.rules()).filter((rule) => rule.ours)).toEqual([]);
  });

  it('after a partly applied batch only the rest is sent again [B14]', async () => {
    const five = await FaultBench.begin(drawbridge, index % 10, { ports: [21, 22, 23, 24, 25] });
    index += 1;
    const fault = await five.breaks({
      kind: 'partial',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const id = await five.open(ADDRESS);
    expect((await five.calls('Authorize')).map(({ items, outcome }) => [items, outcome])).toEqual([
      [5, 'InternalError'],
      [2, 'OK'],
    ]);
    await fault.clear();
    await five.stop(id);
    await five.org.reaches(id, 'CANCELLED');
    expect(await five.rules()).toEqual([]);
  });

  it('one item that EC2 refuses does not fail the other items of its batch [B15]', async () => {
    const addresses = [1, 2, 3, 4, 5].map((last) => `203.0.113.${last}`);
    const fault = await bench.breaks({ kind: 'invalid', address: addresses[2]! });
    await drawbridge.query(
      `UPDATE targets SET lease_until = now() + interval '3 seconds' WHERE identifier = $1`,
      [bench.group],
    );
    const sessions = await Promise.all(addresses.map((address) => bench.start(address)));
    const statuses = await Promise.all(
      sessions.map(({ id }, position) => bench.org.reaches(id, position === 2 ? 'FAILED' : 'ACTIVE')),
    );
    expect(statuses[2]!.resourceIps[0]!.errorMessage).toContain('InvalidParameterValue');
    expect(await bench.addresses()).toEqual(addresses.filter((_, position) => position !== 2));
    expect((await bench.calls('Authorize'))[0]!.items).toBe(5);
    await fault.clear();
    for (const [position, { id }] of sessions.entries()) if (position !== 2) await bench.stop(id);
    for (const [position, { id }] of sessions.entries())
      if (position !== 2) await bench.org.reaches(id, 'CANCELLED');
  });

  it('after a conflict the target is read again and the changes are planned again [B17]', async () => {
    const fault = await bench.breaks({
      kind: 'conflict',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const id = await bench.open(ADDRESS);
    const calls = (await bench.calls()).map(({ operation, outcome }) => `${operation} ${outcome}`);
    const refused = calls.indexOf('AuthorizeSecurityGroupIngress IncorrectState');
    const again = calls.indexOf('AuthorizeSecurityGroupIngress OK');
    expect(calls.slice(refused + 1, again)).toContain('DescribeSecurityGroupRules OK');
    await fault.clear();
    await ends(id);
  });

  it.each(['html-page', 'truncated', 'error-in-success'])(
    'an invalid answer counts as no answer: %s [B19]',
    async (kind) => {
      const onAdd = await bench.breaks({ kind, operation: 'AuthorizeSecurityGroupIngress', count: 1 });
      await drawbridge.cloud.fault({
        kind,
        target: bench.group,
        operation: 'DescribeSecurityGroupRules',
        count: 1,
      });
      const id = await bench.open(ADDRESS);
      expect(await bench.addresses()).toEqual([ADDRESS]);
      await onAdd.clear();
      const onRemove = await bench.breaks({ kind, operation: 'RevokeSecurityGroupIngress', count: 1 });
      await ends(id);
      await onRemove.clear();
    },
  );

  it('a rule that was created again with our mark is adopted with its new id [B22]', async () => {
    const id = await bench.open(ADDRESS);
    const [rule] = await drawbridge.query<{ id: string; region: string }>(
      `SELECT r.id FROM rules r JOIN targets t ON t.id = r.target_id WHERE t.identifier = $1 AND r.address = $2`,
      [bench.group, `${ADDRESS}/32`],
    );
    bench.watch.expectOutsideChange(bench.group, ADDRESS);
    await drawbridge.cloud.removeByHand(bench.group, ADDRESS);
    const description = `drawbridge:test:${rule!.id}:never`;
    await drawbridge.cloud.addUnmanaged({ ...unmanaged(bench.group, 0), address: ADDRESS, description });
    await bench.org.admin.posted(`/resources/${bench.org.resourceIds[0]}/reconcile`);
    const [latest] = await drawbridge.cloud.timeline().then((entries) => entries.toReversed());
    await until('the session shows the new id', async () => {
      const session = await bench.org.session(id);
      return session.resourceIps[0]!.providerRuleId === latest!.providerRuleId;
    });
    expect(await bench.addresses()).toEqual([ADDRESS]);
    await ends(id);
  });
});
