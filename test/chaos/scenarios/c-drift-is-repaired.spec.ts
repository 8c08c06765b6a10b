import { group, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { Watch } from '../oracles/watch';

interface HealthEvent {
  readonly event_type: string;
  readonly message: string | null;
}

describe('C. Drift is repaired on request', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(8));
  let watch: Watch;

  beforeAll(async () => {
    // no periodic comparisons: each test requests its own
    await drawbridge.startWorker({ RECONCILE_SECONDS: '86400' });
    watch = await Watch.begin(drawbridge);
  });
  afterEach(() => watch.verify());

  const openOn = async (index: number, address: string): Promise<string> => {
    const session = await org.started({ ipv4Address: address, resourceIds: [org.resourceIds[index]] });
    await org.reaches(session.id, 'ACTIVE');
    return session.id;
  };

  /** Removes a rule like another program, and excludes it from the checks. */
  const removeByHand = async (index: number, address: string): Promise<void> => {
    watch.expectOutsideChange(group(index), address);
    await drawbridge.cloud.removeByHand(group(index), address);
  };

  const outcomes = (index: number): Promise<HealthEvent[]> =>
    drawbridge.query<HealthEvent>(
      `SELECT event_type, message FROM resource_health_events
       WHERE resource_id = $1 AND event_type LIKE 'RECONCILE%' ORDER BY created_at`,
      [org.resourceIds[index]],
    );

  /** Requests a reconciliation and waits for its outcome. */
  const reconciled = async (index: number): Promise<HealthEvent> => {
    const before = (await outcomes(index)).length;
    await org.admin.posted(`/resources/${org.resourceIds[index]}/reconcile`);
    return until('the reconciliation has an outcome', async () => (await outcomes(index))[before]);
  };

  const addressesOn = async (index: number): Promise<string[]> =>
    (await drawbridge.cloud.rules(group(index))).map((rule) => rule.address).toSorted();

  it('a target without drift is RECONCILE_OK', async () => {
    await openOn(0, '203.0.113.1');
    expect(await reconciled(0)).toEqual({ event_type: 'RECONCILE_OK', message: null });
  });

  it('a rule removed by another program is added again while its session is live [C1]', async () => {
    const id = await openOn(1, '203.0.113.2');
    await removeByHand(1, '203.0.113.2');
    expect(await reconciled(1)).toMatchObject({
      event_type: 'RECONCILE_FAILED',
      message: expect.stringContaining('1 missing, to be added again') as string,
    });
    await until('it is present again', async () => (await addressesOn(1)).includes('203.0.113.2'));
    expect((await org.session(id)).status).toBe('ACTIVE');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await addressesOn(1)).toEqual([]);
    expect((await reconciled(1)).event_type).toBe('RECONCILE_OK');
  });

  it('an orphan is removed, an unmanaged rule is counted and not modified [C5]', async () => {
    const id = await openOn(2, '203.0.113.3');
    await drawbridge.cloud.addUnmanaged({
      target: group(2),
      address: '192.0.2.7',
      protocol: 'tcp',
      fromPort: 22,
      toPort: 22,
    });
    watch.expectOutsideChange(group(2), '203.0.113.3');
    // as after a restore of an older backup: the database does not know the session
    await drawbridge.query('ALTER TABLE sessions DISABLE TRIGGER sessions_kept_while_open');
    await drawbridge.query('DELETE FROM sessions WHERE id = $1', [id]);
    await drawbridge.query('ALTER TABLE sessions ENABLE TRIGGER sessions_kept_while_open');
    await drawbridge.query(`DELETE FROM rules WHERE address = '203.0.113.3/32'`);
    expect(await reconciled(2)).toMatchObject({
      event_type: 'RECONCILE_FAILED',
      message: expect.stringMatching(
        /1 of ours that no holder wants, removal scheduled.*1 unmanaged rules/,
      ) as string,
    });
    await until(
      'only the unmanaged rule is present',
      async () => (await addressesOn(2)).join() === '192.0.2.7',
    );
    const recorded = (): Promise<object[]> =>
      drawbridge.query(`SELECT 1 FROM audit_records WHERE event_type = 'RULE_ORPHAN_REMOVED'`);
    await until('its removal is recorded', async () => (await recorded()).length > 0);
    expect(await recorded()).toHaveLength(1);
  });

  it('a rule that another program keeps removing is suspended after three repairs [C1]', async () => {
    await openOn(3, '203.0.113.4');
    for (let repair = 0; repair < 3; repair += 1) {
      await removeByHand(3, '203.0.113.4');
      expect((await reconciled(3)).message).toContain('to be added again');
      await until('it was observed present again', async () => {
        const rows = await drawbridge.query(
          `SELECT 1 FROM rules WHERE address = '203.0.113.4/32' AND state = 'present' AND due_at IS NULL`,
        );
        return rows.length === 1;
      });
    }
    await removeByHand(3, '203.0.113.4');
    expect((await reconciled(3)).message).toContain('left alone for an hour');
    expect(await addressesOn(3)).toEqual([]);
  });

  it('a deleted group fails its sessions and deactivates its resource after hours; after it is created again it must be verified [C7] [C8]', async () => {
    const [held, leaving] = await Promise.all([openOn(4, '203.0.113.5'), openOn(4, '203.0.113.6')]);
    const fault = watch.fault('the group is deleted', { cloudOnly: true });
    for (const address of ['203.0.113.5', '203.0.113.6']) watch.expectOutsideChange(group(4), address);
    await drawbridge.cloud.fault({ kind: 'not-found', target: group(4) });
    await org.admin.posted(`/sessions/${leaving}/stop`);
    expect((await reconciled(4)).message).toContain('could not be read');
    const advanceTime = async (): Promise<void> => {
      await drawbridge.query(
        `UPDATE rules SET target_missing_since = target_missing_since - interval '6 hours', due_at = least(due_at, now())`,
      );
    };
    await until('the first read is recorded', async () => {
      const rows = await drawbridge.query(
        `SELECT 1 FROM rules WHERE address IN ('203.0.113.5/32', '203.0.113.6/32') AND target_missing_since IS NOT NULL`,
      );
      return rows.length === 2;
    });
    expect((await org.session(leaving)).status).toBe('EXPIRING');
    expect((await org.session(held)).status).toBe('ACTIVE');
    await advanceTime();
    expect((await org.reaches(leaving, 'CANCELLED')).resourceIps[0]).toMatchObject({
      status: 'FAILED',
      removedAt: null,
    });
    await reconciled(4);
    await org.waitedTooLong(held);
    const failed = await org.reaches(held, 'FAILED');
    expect(failed.resourceIps[0]!.errorMessage).toContain(group(4));
    expect(await org.admin.get(`/resources/${org.resourceIds[4]}`)).toMatchObject({
      body: { isActive: false },
    });
    expect((await reconciled(4)).message).toContain('could not be read');
    const [next] = await drawbridge.query<{ seconds: number }>(
      `SELECT extract(epoch FROM reconcile_due_at - now())::float8 AS seconds FROM targets WHERE identifier = $1`,
      [group(4)],
    );
    expect(next!.seconds).toBeGreaterThan(60);
    for (const address of ['203.0.113.5', '203.0.113.6']) await removeByHand(4, address);
    await drawbridge.cloud.clearFaults();
    fault.end();
    const body = { ipv4Address: '203.0.113.7', resourceIds: [org.resourceIds[4]] };
    expect((await org.start(body)).status).toBe(400);
    await org.admin.posted(`/resources/${org.resourceIds[4]}/verify`);
    await openOn(4, '203.0.113.7');
  });

  it.each([
    ['a widened rule of ours', '203.0.113.21', {}],
    ['a widened rule of ours that lost our mark', '203.0.113.22', { description: 'office' }],
  ])('%s is written again as it was [C2]', async (_, address, change) => {
    const id = await openOn(6, address);
    watch.expectOutsideChange(group(6), address);
    await drawbridge.cloud.changeByHand(group(6), address, { fromPort: 0, toPort: 65_535, ...change });
    const { message } = await reconciled(6);
    expect(message).toContain(`1 of ours changed, to be written again: it lets in ${address}/32 tcp *`);
    const open = async (): Promise<string> =>
      (await drawbridge.cloud.rules(group(6))).map((rule) => `${rule.fromPort} ${rule.ours}`).join();
    await until('it is as it was', async () => (await open()) === '22 true');
    await org.reaches(id, 'ACTIVE');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await open()).toBe('');
  });

  it('a rule that only lost our mark is known by its recorded id, and removed at the end [C2]', async () => {
    const id = await openOn(7, '203.0.113.23');
    watch.expectOutsideChange(group(7), '203.0.113.23');
    await drawbridge.cloud.changeByHand(group(7), '203.0.113.23', { description: 'office' });
    expect((await reconciled(7)).event_type).toBe('RECONCILE_OK');
    expect((await org.session(id)).status).toBe('ACTIVE');
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await addressesOn(7)).toEqual([]);
  });

  it('a rule that cannot be removed within a minute is reported once, and removed when possible [D2]', async () => {
    const id = await openOn(5, '203.0.113.8');
    const fault = watch.fault('removals are refused', { cloudOnly: true });
    await drawbridge.cloud.fault({
      kind: 'refuse',
      target: group(5),
      operation: 'RevokeSecurityGroupIngress',
    });
    await org.admin.posted(`/sessions/${id}/stop`);
    await until('its removal was tried', async () => {
      const calls = await drawbridge.cloud.calls();
      return calls.some((call) => call.target === group(5) && call.operation.startsWith('Revoke'));
    });
    await drawbridge.query(
      `UPDATE rules SET unwanted_since = unwanted_since - interval '1 minute' WHERE address = '203.0.113.8/32'`,
    );
    const [report] = await until('it is reported', async () => {
      const events = await outcomes(5);
      return events.length > 0 && events;
    });
    expect(report!.message).toContain('203.0.113.8 is still open');
    const records = await drawbridge.query<{ result: string }>(
      `SELECT result FROM audit_records WHERE event_type = 'RULE_REVOCATION_OVERDUE'`,
    );
    expect(records).toEqual([{ result: 'FAILURE' }]);
    expect((await org.session(id)).status).toBe('EXPIRING');
    await drawbridge.cloud.clearFaults();
    fault.end();
    await org.reaches(id, 'CANCELLED');
    expect(await addressesOn(5)).toEqual([]);
  });
});
