import { group, organization, sshTo } from '../builders/accounts/organization';
import { ledgerOf } from '../builders/sessions/rule-ledger';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('Provider errors are reported', () => {
  const drawbridge = Drawbridge.shared();

  it('a group that is not found closes and fails nothing; after hours it is given up, and nothing is called removed', async () => {
    const org = await organization(drawbridge, [{ group: group(6), config: { port: 22 } }]);
    const [resourceId] = org.resourceIds;
    const started = async (ipv4Address: string): Promise<string> => (await org.started({ ipv4Address })).id;
    const stop = (id: string): Promise<unknown> => org.admin.posted(`/sessions/${id}/stop`);
    const finds = (what: string, statement: string): Promise<boolean> =>
      until(what, async () => (await drawbridge.query(statement)).length > 0);
    const isActive = async (): Promise<unknown> =>
      (await org.admin.get<{ isActive: boolean }>(`/resources/${resourceId}`)).body.isActive;
    const removal = `rules WHERE unwanted_since IS NOT NULL
      AND target_id = (SELECT target_id FROM resources WHERE id = '${resourceId}')`;
    /** Moves the beginning of the absence to the past, and waits for a comparison and a try of the removal. */
    const missingFor = async (time: string): Promise<void> => {
      await finds('the removal was tried', `SELECT 1 FROM ${removal} AND target_missing_since IS NOT NULL`);
      await drawbridge.query(
        `UPDATE rules SET target_missing_since = now() - $1::interval, attempts = 0,
           due_at = CASE WHEN due_at IS NOT NULL THEN now() END
         WHERE target_id = (SELECT target_id FROM resources WHERE id = $2)`,
        [time, resourceId],
      );
      await org.admin.posted(`/resources/${resourceId}/reconcile`);
      await finds(
        'the group was compared, and the removal tried',
        `SELECT 1 FROM targets WHERE identifier = '${group(6)}' AND NOT reconcile_requested
           AND NOT EXISTS (SELECT FROM ${removal} AND attempts = 0)`,
      );
    };
    const [live, leaving] = [await started('203.0.113.45'), await started('203.0.113.46')];
    for (const id of [live, leaving]) await org.reaches(id, 'ACTIVE');

    await drawbridge.cloud.fault({ kind: 'not-found', target: group(6) });
    await stop(leaving);
    const waiting = await started('203.0.113.47');
    await missingFor('5 hours');
    await drawbridge.query(`UPDATE resources SET verify_due_at = now() WHERE id = $1`, [resourceId]);
    await finds(
      'the resource was checked',
      `SELECT 1 FROM resources WHERE id = '${resourceId}' AND verify_due_at > now() + interval '90 seconds'`,
    );
    const statusOf = async (id: string): Promise<string> => (await org.session(id)).status;
    expect(await Promise.all([live, leaving, waiting].map(statusOf))).toEqual([
      'ACTIVE',
      'EXPIRING',
      'PENDING',
    ]);
    expect(await isActive()).toBe(true);
    await drawbridge.cloud.clearFaults();
    await org.reaches(waiting, 'ACTIVE');
    expect((await org.reaches(leaving, 'CANCELLED')).resourceIps[0]!.status).toBe('REMOVED');
    expect(await statusOf(live)).toBe('ACTIVE');

    await drawbridge.cloud.fault({ kind: 'not-found', target: group(6) });
    await stop(waiting);
    await missingFor('7 hours');
    await org.waitedTooLong(live);
    const givenUp = [await org.reaches(waiting, 'CANCELLED'), await org.reaches(live, 'FAILED')];
    const possible = await org.admin.expect(
      200,
      org.admin.get<{ holderId: string; possibleUntil: string | null }[]>(
        `/reports/access?resourceId=${resourceId}&at=${new Date().toISOString()}`,
      ),
    );
    for (const { id, ipv4Address, resourceIps } of givenUp) {
      expect(resourceIps[0]).toMatchObject({
        status: 'FAILED',
        removedAt: null,
        errorMessage: expect.stringMatching(/^Given up, not observed closed: .*sg-/) as string,
      });
      expect(await ledgerOf(drawbridge, ipv4Address!)).toContainEqual(
        expect.objectContaining({ kind: 'ABANDONED', cause: 'TARGET_GONE' }),
      );
      expect(possible.find(({ holderId }) => holderId === id)).toMatchObject({ possibleUntil: null });
    }
    expect(await isActive()).toBe(false);
    await drawbridge.cloud.clearFaults();
  });

  it('a start on a group that is not found is FAILED after half a minute with the provider’s words, and can be repeated', async () => {
    const org = await organization(drawbridge, sshTo(1));
    await drawbridge.cloud.fault({ kind: 'not-found', target: group(0) });
    const { id } = await org.started({ ipv4Address: '203.0.113.91' });
    const { resourceIps } = await org.reaches(id, 'FAILED');
    expect(resourceIps).toMatchObject([
      { status: 'FAILED', errorMessage: expect.stringContaining('InvalidGroup.NotFound') as string },
    ]);
    await drawbridge.cloud.clearFaults();
    await org.reaches((await org.started({ ipv4Address: '203.0.113.91' })).id, 'ACTIVE');
  });

  it('an addition that reads do not show yet is not repeated', async () => {
    const org = await organization(drawbridge, [{ group: group(8), config: { port: 22 } }]);
    const operation = 'DescribeSecurityGroupRules';
    await drawbridge.cloud.fault({
      kind: 'stale-read',
      target: group(8),
      operation,
      delayMs: 60_000,
      seconds: 6,
    });
    const { id } = await org.started({ ipv4Address: '203.0.113.50' });
    await org.reaches(id, 'ACTIVE');
    const calls = (await drawbridge.cloud.calls()).filter(({ target }) => target === group(8));
    expect(
      calls.filter((call) => call.operation.startsWith('Authorize') && call.outcome !== 'DryRunOperation'),
    ).toHaveLength(1);
  });
});
