import { FaultBench, ownForFaults } from '../../builders/sessions/fault-bench';
import { group, organization, sshTo } from '../../builders/accounts/organization';
import { healthOf, ledgerOf, logOf, recordsOf, type HealthRow } from '../../builders/sessions/rule-ledger';
import type { ResourceIp } from '../../harness/product/api-client';
import type { AppProcess } from '../../harness/product/processes';
import { until } from '../../harness/until';

const REPAIRS = 3;

describe('C. Drift is repaired on request, and recorded with its cause', () => {
  const drawbridge = ownForFaults({ worker: false });
  let worker: AppProcess;
  let bench: FaultBench;
  let index = 0;

  beforeAll(async () => {
    // no periodic comparisons: each test requests its own
    worker = await drawbridge.startWorker({ RECONCILE_SECONDS: '86400', LOG_LEVEL: 'info' });
  });
  beforeEach(async () => {
    bench = await FaultBench.begin(drawbridge, index);
    index += 1;
  });
  afterEach(() => bench.holds());

  const outcomes = async (resourceId: string): Promise<HealthRow[]> =>
    (await healthOf(drawbridge, resourceId)).filter(({ eventType }) => eventType.startsWith('RECONCILE'));

  /** Requests a comparison and waits for its outcome. */
  const reconciled = async (org = bench.org): Promise<HealthRow> => {
    const [resourceId] = org.resourceIds as [string];
    const before = (await outcomes(resourceId)).length;
    await org.admin.posted(`/resources/${resourceId}/reconcile`);
    return until('the comparison has an outcome', async () => (await outcomes(resourceId))[before]);
  };

  const kindsOf = async (address: string): Promise<string[]> =>
    (await ledgerOf(drawbridge, address)).map(({ kind }) => kind);

  const plant = async (address: string, ruleId: string): Promise<void> => {
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

  it('a rule that another program keeps removing is suspended after three repairs, and shown as such until it is present again [C1, L7]', async () => {
    const address = '203.0.113.1';
    const [taken, kept] = [7, 8];
    const org = await organization(drawbridge, sshTo([taken, kept]));
    const { id } = await org.started({ ipv4Address: address });
    await org.reaches(id, 'ACTIVE');
    bench.watch.expectOutsideChange(group(taken), address);
    const isPresent = async (): Promise<boolean> => (await drawbridge.cloud.rules(group(taken))).length === 1;
    const shown = async (): Promise<ResourceIp> =>
      (await org.session(id)).resourceIps.find(({ resourceId }) => resourceId === org.resourceIds[0])!;
    const removed = async (): Promise<HealthRow> => {
      await drawbridge.cloud.removeByHand(group(taken), address);
      return reconciled(org);
    };
    for (let repair = 0; repair < REPAIRS; repair += 1) {
      expect((await removed()).message).toContain('1 missing, to be added again');
      await until('it is present again', isPresent);
      await until('that was observed', async () => {
        const rows = await drawbridge.query(
          `SELECT 1 FROM rules r JOIN targets t ON t.id = r.target_id
           WHERE t.identifier = $1 AND r.address = $2 AND r.state = 'present' AND r.due_at IS NULL`,
          [group(taken), `${address}/32`],
        );
        return rows.length === 1;
      });
    }
    expect((await shown()).status).toBe('APPLIED');

    expect((await removed()).message).toContain('left alone for an hour');
    const suspended = await until('the ResourceIp is PENDING', async () => {
      const ip = await shown();
      return ip.status === 'PENDING' && ip;
    });
    expect(suspended.errorMessage).toEqual(expect.stringMatching(/\S/));
    await org.reaches(id, 'PARTIAL');
    expect(await isPresent()).toBe(false);

    await drawbridge.query(`UPDATE rules SET due_at = now() WHERE address = $1`, [`${address}/32`]);
    await org.reaches(id, 'ACTIVE');
    expect(await shown()).toMatchObject({ status: 'APPLIED', errorMessage: null });
    expect(await isPresent()).toBe(true);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
  });

  it('a rule that only lost our mark stays while its session is live, and is removed at the stop by its recorded id [C2, L4]', async () => {
    const address = '203.0.113.2';
    const id = await bench.open(address);
    const [rule] = await bench.rules();
    await drawbridge.cloud.changeByHand(bench.group, address, { description: 'office' });
    expect((await reconciled()).eventType).toBe('RECONCILE_OK');
    expect((await bench.org.session(id)).status).toBe('ACTIVE');
    expect(await kindsOf(address)).toEqual(['OPENED']);
    expect(await bench.addresses()).toEqual([address]);

    await bench.stop(id);
    const ended = await bench.org.reaches(id, 'CANCELLED');
    expect(await bench.addresses()).toEqual([]);
    const { providerRuleId } = rule!;
    expect(ended.resourceIps).toMatchObject([{ status: 'REMOVED', providerRuleId }]);
    expect(await ledgerOf(drawbridge, address)).toContainEqual(
      expect.objectContaining({ kind: 'CLOSED', cause: 'SESSION_STOPPED', providerRuleId }),
    );
  });

  it.each([
    ['another address under the same id', '203.0.113.3', { address: '0.0.0.0/0' }, 'everybody (0.0.0.0/0)'],
    [
      'other ports, and without our mark',
      '203.0.113.4',
      { fromPort: 0, toPort: 65_535, description: 'office' },
      '203.0.113.4/32 tcp *',
    ],
  ])(
    'a rule with %s is reported, and written again as it was [C2, L5]',
    async (_, address, change, words) => {
      const id = await bench.open(address);
      for (const changed of [address, '0.0.0.0/0']) bench.watch.expectOutsideChange(bench.group, changed);
      await drawbridge.cloud.changeByHand(bench.group, address, change);
      const { message } = await reconciled();
      expect(message).toContain('1 of ours changed, to be written again');
      expect(message).toContain(words);
      await until('it is repaired', async () => (await kindsOf(address)).includes('RESTORED'));
      expect(await kindsOf(address)).toContain('CHANGED');
      const rules = (await bench.rules()).map((rule) => [rule.address, rule.fromPort, rule.ours]);
      expect(rules).toEqual([[address, 22, true]]);
      await bench.org.reaches(id, 'ACTIVE');

      await bench.stop(id);
      await bench.org.reaches(id, 'CANCELLED');
      expect(await bench.rules()).toEqual([]);
    },
  );

  it('an orphan whose removal is refused is not reported as removed while it is present [C5, L2]', async () => {
    const address = '203.0.113.5';
    const fault = await bench.breaks({ kind: 'refuse', operation: 'RevokeSecurityGroupIngress' });
    await plant(address, '00000000-0000-4000-8000-000000000001');
    const found = await reconciled();
    expect(found.eventType).toBe('RECONCILE_FAILED');
    expect(found.message).toMatch(/removal scheduled/i);
    expect(found.message).not.toMatch(/\bremoved\b/i);
    await bench.met('Revoke', 'UnauthorizedOperation');
    expect((await reconciled()).eventType).toBe('RECONCILE_FAILED');
    expect(await recordsOf(drawbridge, 'RULE_%REMOVED', address)).toEqual([]);
    expect(await kindsOf(address)).not.toContain('CLOSED');
    expect(await bench.addresses()).toEqual([address]);

    await fault.clear();
    await until('it is gone', async () => (await bench.addresses()).length === 0);
    const records = await until('the removal is recorded', async () => {
      const written = await recordsOf(drawbridge, 'RULE_ORPHAN_REMOVED', address);
      return written.length > 0 && written;
    });
    expect(records).toMatchObject([{ result: 'SUCCESS', resourceId: bench.org.resourceIds[0] }]);
    expect(await ledgerOf(drawbridge, address)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'FOUND', holderKind: 'ORPHAN' }),
        expect.objectContaining({ kind: 'CLOSED', cause: 'ORPHAN' }),
      ]),
    );
    expect((await reconciled()).eventType).toBe('RECONCILE_OK');
  });

  it('a stale rule that was added by hand is removed with a record, and each event is logged once [L3]', async () => {
    const address = '203.0.113.6';
    const id = await bench.open(address);
    const [rule] = await drawbridge.query<{ id: string }>(`SELECT id FROM rules WHERE address = $1`, [
      `${address}/32`,
    ]);
    await bench.stop(id);
    await bench.org.reaches(id, 'CANCELLED');
    await plant(address, rule!.id);
    await reconciled();
    await until('it is gone', async () => (await bench.addresses()).length === 0);
    await until(
      'the removal is recorded',
      async () => (await recordsOf(drawbridge, 'RULE_%REMOVED', address)).length > 0,
    );
    const rows = await ledgerOf(drawbridge, address);
    expect(rows).toMatchObject([
      { kind: 'OPENED', cause: 'SESSION_STARTED', holderKind: 'SESSION', sessionId: id },
      { kind: 'CLOSED', cause: 'SESSION_STOPPED', holderKind: 'SESSION', sessionId: id },
      { kind: 'FOUND' },
      { kind: 'CLOSED', cause: expect.stringMatching(/^(STALE_RULE|ORPHAN)$/) as string },
    ]);
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
  });
});
