import { group, organization } from '../builders/accounts/organization';
import { ledgerOf } from '../builders/sessions/rule-ledger';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('Provider errors are reported', () => {
  const drawbridge = Drawbridge.own({ simulator: { SIMULATOR_RULES_PER_GROUP: '2' } });

  it('a full group fails the whole session when it is the only one, and does not affect the other IP version', async () => {
    const org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    for (const last of [1, 2]) {
      await drawbridge.cloud.addUnmanaged({
        target: group(0),
        address: `198.51.100.${last}/32`,
        protocol: 'tcp',
        fromPort: 22,
        toPort: 22,
      });
    }
    const { id } = await org.started({ ipv4Address: '203.0.113.40' });
    const failed = await org.reaches(id, 'FAILED');
    expect(failed.resourceIps[0]).toMatchObject({ status: 'FAILED', providerRuleId: null, appliedAt: null });
    expect(failed.resourceIps[0]!.errorMessage).toMatch(
      /maximum number of rules|RulesPerSecurityGroupLimitExceeded/,
    );

    const both = await org.started({ ipv4Address: '203.0.113.40', ipv6Address: '2001:db8::40' });
    const partial = await org.reaches(both.id, 'PARTIAL');
    expect(partial.resourceIps.map((ip) => `${ip.ipVersion} ${ip.status}`)).toEqual([
      '4 FAILED',
      '6 APPLIED',
    ]);
  });

  it('a session is PARTIAL when one of two resources fails; stopped, its applied rules are removed', async () => {
    const org = await organization(drawbridge, [
      { group: group(1), config: { port: 22 } },
      { group: group(2), config: { port: 22 } },
    ]);
    await drawbridge.cloud.fault({
      kind: 'refuse',
      target: group(2),
      operation: 'AuthorizeSecurityGroupIngress',
      seconds: 60,
    });
    const { id } = await org.started({ ipv4Address: '203.0.113.41' });
    const partial = await org.reaches(id, 'PARTIAL');
    expect(partial.resourceIps.map((ip) => ip.status)).toEqual(['APPLIED', 'FAILED']);
    expect(partial.resourceIps[1]!.errorMessage).toMatch(/not authorized/i);
    await drawbridge.cloud.clearFaults();

    await org.admin.posted(`/sessions/${id}/stop`);
    const ended = await org.reaches(id, 'CANCELLED');
    expect(ended.resourceIps.map((ip) => ip.status)).toEqual(['REMOVED', 'FAILED']);
    expect((await drawbridge.cloud.rules()).filter((rule) => rule.address === '203.0.113.41')).toEqual([]);
  });

  it('throttling and retryable errors are retried', async () => {
    const org = await organization(drawbridge, [{ group: group(3), config: { port: 22 } }]);
    await drawbridge.cloud.fault({
      kind: 'throttle',
      target: group(3),
      operation: 'AuthorizeSecurityGroupIngress',
      count: 2,
    });
    await drawbridge.cloud.fault({
      kind: 'error',
      target: group(3),
      operation: 'DescribeSecurityGroupRules',
      count: 2,
    });
    const { id } = await org.started({ ipv4Address: '203.0.113.42' });
    await org.reaches(id, 'ACTIVE');
  });

  it('a refused removal is retried: the session stays EXPIRING until the cloud allows it', async () => {
    const org = await organization(drawbridge, [{ group: group(4), config: { port: 22 } }]);
    const { id } = await org.started({ ipv4Address: '203.0.113.43' });
    await org.reaches(id, 'ACTIVE');
    await drawbridge.cloud.fault({
      kind: 'refuse',
      target: group(4),
      operation: 'RevokeSecurityGroupIngress',
      count: 3,
    });
    await org.admin.posted(`/sessions/${id}/stop`);
    const ended = await org.reaches(id, 'CANCELLED');
    expect(ended.resourceIps[0]!.status).toBe('REMOVED');
    const refusals = (await drawbridge.cloud.calls()).filter(
      (call) =>
        call.target === group(4) &&
        call.operation === 'RevokeSecurityGroupIngress' &&
        call.outcome === 'UnauthorizedOperation',
    );
    expect(refusals).toHaveLength(3);
  });

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

  it('verify distinguishes a missing group from one without read permission', async () => {
    const org = await organization(drawbridge, [{ group: group(5), config: { port: 22 } }]);
    const [id] = org.resourceIds;
    await drawbridge.cloud.fault({
      kind: 'refuse',
      target: group(5),
      operation: 'DescribeSecurityGroups',
      count: 1,
    });
    expect(await org.admin.post(`/resources/${id}/verify`)).toMatchObject({
      status: 400,
      body: { error: 'VERIFICATION_FAILED' },
    });
    const { body } = await org.admin.get<{ isActive: boolean }>(`/resources/${id}`);
    expect(body.isActive).toBe(false);
    expect(await org.start({ ipv4Address: '203.0.113.44' })).toMatchObject({ status: 400 });
    await drawbridge.cloud.fault({
      kind: 'not-found',
      target: group(5),
      operation: 'DescribeSecurityGroups',
      count: 1,
    });
    expect(await org.admin.post(`/resources/${id}/verify`)).toMatchObject({
      status: 404,
      body: { error: 'CLOUD_RESOURCE_NOT_FOUND' },
    });
    expect((await org.admin.post(`/resources/${id}/verify`)).status).toBe(200);
  });
});
