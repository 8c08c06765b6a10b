import { FaultBench, ownForFaults } from '../../builders/sessions/fault-bench';
import { healthOf, ledgerOf, logOf, recordsOf, type HealthRow } from '../../builders/sessions/rule-ledger';
import type { AppProcess } from '../../harness/product/processes';
import { until } from '../../harness/until';

describe('L. A removal is recorded when it is observed, with its cause', () => {
  const drawbridge = ownForFaults({ worker: false });
  let worker: AppProcess;

  beforeAll(async () => {
    // no periodic comparisons: each test requests its own
    worker = await drawbridge.startWorker({ RECONCILE_SECONDS: '86400', LOG_LEVEL: 'info' });
  });

  const outcomes = async (bench: FaultBench): Promise<HealthRow[]> =>
    (await healthOf(drawbridge, bench.org.resourceIds[0]!)).filter(({ eventType }) =>
      eventType.startsWith('RECONCILE'),
    );

  const reconciled = async (bench: FaultBench): Promise<HealthRow> => {
    const before = (await outcomes(bench)).length;
    await bench.org.admin.posted(`/resources/${bench.org.resourceIds[0]}/reconcile`);
    return until('the comparison has an outcome', async () => (await outcomes(bench))[before]);
  };

  const plant = async (bench: FaultBench, address: string, ruleId: string): Promise<void> => {
    bench.watch.expectOutsideChange(bench.group, address);
    await drawbridge.cloud.addUnmanaged({
      target: bench.group,
      address,
      protocol: 'tcp',
      fromPort: 22,
      toPort: 22,
      description: `drawbridge:test:${ruleId}:1700000000`,
    });
  };

  it('an orphan whose removal is refused is not reported as removed while it is present [L2]', async () => {
    const bench = await FaultBench.begin(drawbridge, 0);
    const address = '203.0.113.1';
    const fault = await bench.breaks({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
    await plant(bench, address, '00000000-0000-4000-8000-000000000001');
    const found = await reconciled(bench);
    expect(found.eventType).toBe('RECONCILE_FAILED');
    expect(found.message).toMatch(/removal scheduled/i);
    expect(found.message).not.toMatch(/\bremoved\b/i);
    await bench.met('Revoke', 'UnauthorizedOperation');
    for (let round = 0; round < 2; round += 1)
      expect((await reconciled(bench)).eventType).toBe('RECONCILE_FAILED');
    expect(await recordsOf(drawbridge, 'RULE_%REMOVED', address)).toEqual([]);
    expect((await ledgerOf(drawbridge, address)).map(({ kind }) => kind)).not.toContain('CLOSED');
    expect(await bench.addresses()).toEqual([address]);

    await fault.clear();
    await until('it is gone', async () => (await bench.addresses()).length === 0);
    const [record] = await until('the removal is recorded', async () => {
      const records = await recordsOf(drawbridge, 'RULE_ORPHAN_REMOVED', address);
      return records.length > 0 && records;
    });
    expect(record).toMatchObject({ result: 'SUCCESS', resourceId: bench.org.resourceIds[0] });
    expect(await ledgerOf(drawbridge, address)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'FOUND', holderKind: 'ORPHAN' }),
        expect.objectContaining({ kind: 'CLOSED', cause: 'ORPHAN' }),
      ]),
    );
    expect((await reconciled(bench)).eventType).toBe('RECONCILE_OK');
    await bench.holds();
  });

  it('a stale rule that was added by hand is removed with a record, and each event is logged once [L3]', async () => {
    const bench = await FaultBench.begin(drawbridge, 1);
    const address = '203.0.113.2';
    const id = await bench.open(address);
    const [rule] = await drawbridge.query<{ id: string }>(`SELECT id FROM rules WHERE address = $1`, [
      `${address}/32`,
    ]);
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    await plant(bench, address, rule!.id);
    await reconciled(bench);
    await until('it is gone', async () => (await bench.addresses()).length === 0);
    await until(
      'the removal is recorded',
      async () => (await recordsOf(drawbridge, 'RULE_%REMOVED', address)).length > 0,
    );
    const rows = await ledgerOf(drawbridge, address);
    expect(rows.map(({ kind }) => kind)).toEqual(['OPENED', 'CLOSED', 'FOUND', 'CLOSED']);
    expect(rows[0]).toMatchObject({ cause: 'SESSION_STARTED', holderKind: 'SESSION', sessionId: id });
    expect(rows[1]).toMatchObject({ cause: 'SESSION_STOPPED', holderKind: 'SESSION', sessionId: id });
    expect(['STALE_RULE', 'ORPHAN']).toContain(rows[3]!.cause);

    for (const { kind, providerRuleId } of rows) {
      const ofEvent = await until('the event is logged', () => {
        const lines = logOf(worker)
          .filter((line) => Object.values(line).includes(kind))
          .map((line) => JSON.stringify(line))
          .filter((line) => line.includes(`${address}/32`) && line.includes(providerRuleId ?? kind));
        return Promise.resolve(lines.length > 0 && lines);
      });
      expect(ofEvent).toHaveLength(1);
    }
    await bench.holds();
  });
});
