import { FaultBench, ownForFaults } from '../../builders/sessions/fault-bench';
import { group, organization, type Organization } from '../../builders/accounts/organization';
import { healthOf, metricOf, recordsOf, type RecordRow } from '../../builders/sessions/rule-ledger';
import type { AppProcess } from '../../harness/product/processes';
import { until } from '../../harness/until';

describe('L. An unwanted rule that cannot be removed is reported', () => {
  const drawbridge = ownForFaults({ worker: false });
  let worker: AppProcess;

  beforeAll(async () => {
    worker = await drawbridge.startWorker({ METRICS_PORT: '0' });
  });

  /** Once its removal was refused, it has been unwanted for a minute: the database says so, instead of waiting for it. */
  const becomesOverdue = (address: string): Promise<boolean> =>
    until('its removal was refused', async () => {
      const rows = await drawbridge.query(
        `UPDATE rules SET unwanted_since = now() - interval '1 minute'
         WHERE address = $1 AND unwanted_since IS NOT NULL AND attempts > 0 RETURNING 1`,
        [`${address}/32`],
      );
      return rows.length > 0;
    });

  const reported = ({ organizationId }: Organization, address: string): Promise<RecordRow> =>
    until(`${address} is reported`, async () =>
      (await recordsOf(drawbridge, 'RULE_REVOCATION_OVERDUE', address)).find(
        (record) => record.organizationId === organizationId,
      ),
    );

  const isOverdueInHealth = async (resourceId: string, address: string): Promise<boolean> =>
    (await healthOf(drawbridge, resourceId)).some(
      ({ eventType, message }) => eventType === 'RECONCILE_FAILED' && message?.includes(address) === true,
    );

  it('after its resource moved to another group: audit record, health event and metric [L1]', async () => {
    const bench = await FaultBench.begin(drawbridge, 0);
    const [resourceId] = bench.org.resourceIds as [string];
    const address = '203.0.113.1';
    const id = await bench.open(address);
    const fault = await bench.breaks({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
    await bench.org.admin.expect(
      200,
      bench.org.admin.patch(`/resources/${resourceId}`, { resourceIdentifier: group(8) }),
    );
    await becomesOverdue(address);
    const record = await reported(bench.org, address);
    expect(record).toMatchObject({ result: 'FAILURE', resourceId });
    expect(await isOverdueInHealth(resourceId, address)).toBe(true);
    expect(await metricOf(worker, 'drawbridge_overdue_rules')).toBe(1);
    expect(await metricOf(worker, 'drawbridge_oldest_overdue_seconds')).toBeGreaterThan(50);
    expect(await bench.addresses()).toEqual([address]);
    await fault.clear();
    await until('it is gone', async () => (await bench.addresses()).length === 0);
    await until('nothing is overdue', async () => (await metricOf(worker, 'drawbridge_overdue_rules')) === 0);
    await bench.stop(id);
    await bench.holds();
  });

  it('as an orphan: to every organization with a write-verified resource on the target [L1]', async () => {
    const bench = await FaultBench.begin(drawbridge, 1);
    const other = await organization(drawbridge, [{ group: bench.group, config: { port: 443 } }]);
    const address = '203.0.113.2';
    bench.watch.expectOutsideChange(bench.group, address);
    const fault = await bench.breaks({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
    await drawbridge.cloud.addUnmanaged({
      target: bench.group,
      address,
      protocol: 'tcp',
      fromPort: 22,
      toPort: 22,
      description: 'drawbridge:test:00000000-0000-4000-8000-000000000001:1700000000',
    });
    await bench.org.admin.posted(`/resources/${bench.org.resourceIds[0]}/reconcile`);
    await becomesOverdue(address);
    for (const org of [bench.org, other]) {
      await reported(org, address);
      expect(await isOverdueInHealth(org.resourceIds[0]!, address)).toBe(true);
    }
    await fault.clear();
    await until('it is gone', async () => (await bench.addresses()).length === 0);
    await bench.holds();
  });
});
