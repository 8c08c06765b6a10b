import { FaultBench, startForFaults } from '../../builders/fault-bench';
import { group, organization } from '../../builders/organization';
import type { Drawbridge } from '../../harness/drawbridge';
import { until } from '../../harness/until';
import { HEALTHY_BOUND_MS, machineSlowness } from '../oracles/bounds';

const ADDRESS = '203.0.113.1';
const unmanaged = (target: string, last: number): Parameters<Drawbridge['cloud']['addUnmanaged']>[0] => ({
  target,
  address: `198.51.100.${last}`,
  protocol: 'tcp',
  fromPort: 22,
  toPort: 22,
});

describe('B. The cloud misbehaves', () => {
  jest.setTimeout(120_000);
  let drawbridge: Drawbridge;
  let bench: FaultBench;
  let index = 0;

  beforeAll(async () => {
    drawbridge = await startForFaults();
  });
  beforeEach(async () => {
    bench = await FaultBench.begin(drawbridge, index % 10);
    index += 1;
  });
  afterEach(async () => {
    await bench.holds();
    for (const address of await bench.addresses()) await drawbridge.cloud.removeByHand(bench.group, address);
  });
  afterAll(() => drawbridge.stop());

  const ends = async (id: string): Promise<void> => {
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED', 45_000);
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
    await fault.mend();
    await ends(id);
  });

  it('an add that timed out, succeeded and is not desired any more is removed [B1]', async () => {
    const fault = await bench.breaks({
      kind: 'timeout-after-success',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const { id } = await bench.start(ADDRESS);
    await bench.met('Authorize', 'NO_ANSWER');
    await ends(id);
    expect((await bench.calls('Revoke')).map((call) => call.outcome)).toEqual(['OK']);
    await fault.mend();
  });

  it('an add that timed out and failed is sent again, and stands once [B2]', async () => {
    const fault = await bench.breaks({
      kind: 'timeout-before',
      operation: 'AuthorizeSecurityGroupIngress',
      count: 1,
    });
    const id = await bench.open(ADDRESS);
    expect((await bench.calls('Authorize')).map((call) => call.outcome)).toEqual(['NO_ANSWER', 'OK']);
    expect(await bench.addresses()).toEqual([ADDRESS]);
    await fault.mend();
    await ends(id);
  });

  it.each(['timeout-after-success', 'timeout-before'])(
    'a removal that meets %s is settled by what is seen [B3]',
    async (kind) => {
      const id = await bench.open(ADDRESS);
      const fault = await bench.breaks({ kind, operation: 'RevokeSecurityGroupIngress', count: 1 });
      await ends(id);
      const calls = await bench.calls();
      const last = calls.findLastIndex((call) => call.operation.startsWith('Revoke'));
      expect(calls.slice(last + 1).map((call) => call.operation)).toContain('DescribeSecurityGroupRules');
      await fault.mend();
    },
  );

  it('an add that EC2 calls a duplicate is judged by whose it is, and an unmanaged one stays [B5]', async () => {
    await drawbridge.cloud.addUnmanaged({ ...unmanaged(bench.group, 0), address: ADDRESS });
    const fault = await bench.breaks({
      kind: 'stale-read',
      operation: 'DescribeSecurityGroupRules',
      delayMs: 60_000,
      count: 1,
    });
    const id = await bench.open(ADDRESS);
    await bench.met('Authorize', 'InvalidPermission.Duplicate');
    await fault.mend();
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    expect((await bench.rules()).map(({ address, ours }) => ({ address, ours }))).toEqual([
      { address: ADDRESS, ours: false },
    ]);
  });

  it('a removal of what is not there counts when a fresh list says so [B6]', async () => {
    const id = await bench.open(ADDRESS);
    bench.watch.outsideHand(bench.group, ADDRESS);
    await drawbridge.cloud.removeByHand(bench.group, ADDRESS);
    await ends(id);
    const calls = await bench.calls();
    const refused = calls.findIndex((call) => call.outcome === 'InvalidSecurityGroupRuleId.NotFound');
    expect(refused).toBeGreaterThan(0);
    expect(calls.slice(refused + 1)).toContainEqual(
      expect.objectContaining({ operation: 'DescribeSecurityGroupRules', outcome: 'OK' }),
    );
  });

  it('a connection that is never answered delays its own object only [B9]', async () => {
    const other = await FaultBench.begin(drawbridge, index % 10);
    index += 1;
    const id = await bench.open(ADDRESS);
    const fault = await bench.breaks({ kind: 'timeout-before' });
    await bench.stop(id);
    for (const address of ['203.0.113.2', '203.0.113.3', '203.0.113.4']) {
      const theirs = await other.open(address);
      const stoppedAt = Date.now();
      await other.stop(theirs);
      await other.org.reaches(theirs, 'CANCELLED');
      expect(Date.now() - stoppedAt).toBeLessThan(HEALTHY_BOUND_MS * machineSlowness());
    }
    expect((await bench.org.session(id)).status).toBe('EXPIRING');
    await fault.mend();
    await bench.org.reaches(id, 'CANCELLED', 60_000);
  });

  it('a target that answers after ten seconds delays nobody else [B10]', async () => {
    const other = await FaultBench.begin(drawbridge, index % 10);
    index += 1;
    const timed = async (address: string): Promise<number> => {
      const begunAt = Date.now();
      const id = await other.open(address);
      await other.stop(id);
      await other.org.reaches(id, 'CANCELLED');
      return Date.now() - begunAt;
    };
    const quiet = Math.max(await timed('203.0.113.2'), await timed('203.0.113.3'));
    const id = await bench.open(ADDRESS);
    const fault = await bench.breaks({ kind: 'slow', delayMs: 10_000 });
    await bench.stop(id);
    const slow = Math.max(await timed('203.0.113.4'), await timed('203.0.113.5'));
    process.stdout.write(
      `B10: another organization's session, ${quiet} ms quiet, ${slow} ms beside a slow one\n`,
    );
    // both were over before the slow one had its answer
    expect((await bench.org.session(id)).status).toBe('EXPIRING');
    await fault.mend();
    await bench.org.reaches(id, 'CANCELLED', 60_000);
  });

  it('reads that lag behind the writes call nothing open that is not, and nothing closed [B12]', async () => {
    const lag = { kind: 'stale-read', operation: 'DescribeSecurityGroupRules' } as const;
    const first = await bench.breaks({ ...lag, delayMs: 3000, count: 3 });
    const id = await bench.open(ADDRESS);
    expect(await bench.addresses()).toEqual([ADDRESS]);
    await first.mend();
    const second = await bench.breaks({ ...lag, delayMs: 120_000, count: 2 });
    await ends(id);
    await second.mend();
  });

  it('a full group loses what nobody wants there, and the add is tried once more [B13]', async () => {
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
    await until('its removal waits for its next turn', async () => (await pause()) === 1);
    await fault.mend();
    const id = await bench.open(ADDRESS);
    expect((await bench.calls('Authorize')).map((call) => call.outcome)).toContain(
      'RulesPerSecurityGroupLimitExceeded',
    );
    await bench.org.reaches(overdue, 'CANCELLED', 90_000);
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    expect(await bench.rules()).toHaveLength(7);
  });

  it('a group that is full of others fails its own rule, and no other [B13]', async () => {
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
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await org.reaches(id, 'CANCELLED');
    expect((await bench.rules()).filter((rule) => rule.ours)).toEqual([]);
  });

  it('of a batch that was half applied, the rest is sent alone [B14]', async () => {
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
    await fault.mend();
    await five.stop(id);
    await five.org.reaches(id, 'CANCELLED');
    expect(await five.rules()).toEqual([]);
  });

  it('one item that EC2 refuses does not fail those sent with it [B15]', async () => {
    const addresses = [1, 2, 3, 4, 5].map((last) => `203.0.113.${last}`);
    const fault = await bench.breaks({ kind: 'invalid', address: addresses[2]! });
    await drawbridge.query(
      `UPDATE targets SET lease_until = now() + interval '3 seconds' WHERE identifier = $1`,
      [bench.group],
    );
    const sessions = await Promise.all(addresses.map((address) => bench.start(address)));
    const statuses = await Promise.all(
      sessions.map(({ id }, place) => bench.org.reaches(id, place === 2 ? 'FAILED' : 'ACTIVE')),
    );
    expect(statuses[2]!.resourceIps[0]!.errorMessage).toContain('InvalidParameterValue');
    expect(await bench.addresses()).toEqual(addresses.filter((_, place) => place !== 2));
    expect((await bench.calls('Authorize'))[0]!.items).toBe(5);
    await fault.mend();
    for (const [place, { id }] of sessions.entries()) if (place !== 2) await bench.stop(id);
    for (const [place, { id }] of sessions.entries())
      if (place !== 2) await bench.org.reaches(id, 'CANCELLED', 45_000);
  });

  it('after a conflict the object is read again, and the decision is made anew [B17]', async () => {
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
    await fault.mend();
    await ends(id);
  });

  it.each(['html-page', 'truncated', 'error-in-success'])(
    'an answer of another shape says nothing: %s [B19]',
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
      await onAdd.mend();
      const onRemove = await bench.breaks({ kind, operation: 'RevokeSecurityGroupIngress', count: 1 });
      await ends(id);
      await onRemove.mend();
    },
  );

  it('a rule that the cloud made anew is found, and goes by its new id [B22]', async () => {
    const id = await bench.open(ADDRESS);
    const [rule] = await drawbridge.query<{ id: string; region: string }>(
      `SELECT r.id FROM rules r JOIN targets t ON t.id = r.target_id WHERE t.identifier = $1 AND r.address = $2`,
      [bench.group, `${ADDRESS}/32`],
    );
    bench.watch.outsideHand(bench.group, ADDRESS);
    await drawbridge.cloud.removeByHand(bench.group, ADDRESS);
    const description = `drawbridge:test:${rule!.id}:never`;
    await drawbridge.cloud.addUnmanaged({ ...unmanaged(bench.group, 0), address: ADDRESS, description });
    await bench.org.admin.expect(
      200,
      bench.org.admin.post(`/resources/${bench.org.resourceIds[0]}/reconcile`),
    );
    const [standing] = await drawbridge.cloud.timeline().then((entries) => entries.toReversed());
    await until('the session shows the new id', async () => {
      const session = await bench.org.session(id);
      return session.resourceIps[0]!.providerRuleId === standing!.providerRuleId;
    });
    expect(await bench.addresses()).toEqual([ADDRESS]);
    await ends(id);
  });
});
