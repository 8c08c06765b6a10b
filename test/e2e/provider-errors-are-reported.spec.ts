import { group, organization, type Organization } from '../builders/organization';
import { ledgerOf } from '../builders/rule-ledger';
import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';

describe('Provider errors are reported', () => {
  let drawbridge: Drawbridge;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({ simulator: { SIMULATOR_RULES_PER_GROUP: '2' } });
  });
  afterAll(() => drawbridge.stop());

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

    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
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
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    const ended = await org.reaches(id, 'CANCELLED', 30_000);
    expect(ended.resourceIps[0]!.status).toBe('REMOVED');
    const refusals = (await drawbridge.cloud.calls()).filter(
      (call) =>
        call.target === group(4) &&
        call.operation === 'RevokeSecurityGroupIngress' &&
        call.outcome === 'UnauthorizedOperation',
    );
    expect(refusals).toHaveLength(3);
  });

  interface Possible {
    readonly holderId: string;
    readonly possibleUntil: string | null;
  }

  /** A session that stays and one that is being stopped, on a group that the cloud does not find. */
  const onMissingGroup = async (
    index: number,
    addresses: readonly [string, string],
  ): Promise<{
    org: Organization;
    live: string;
    leaving: string;
    missingFor(time: string): Promise<void>;
  }> => {
    const org = await organization(drawbridge, [{ group: group(index), config: { port: 22 } }]);
    const [live, leaving] = await Promise.all(
      addresses.map(async (ipv4Address) => (await org.started({ ipv4Address })).id),
    );
    for (const id of [live!, leaving!]) await org.reaches(id, 'ACTIVE');
    await drawbridge.cloud.fault({ kind: 'not-found', target: group(index) });
    await org.admin.expect(200, org.admin.post(`/sessions/${leaving}/stop`));
    const rules = `address = ANY ('{${addresses.map((address) => `${address}/32`).join()}}')`;
    const compared = async (): Promise<void> => {
      await org.admin.expect(200, org.admin.post(`/resources/${org.resourceIds[0]}/reconcile`));
      await until('the target was compared', async () => {
        const rows = await drawbridge.query(
          `SELECT 1 FROM targets WHERE identifier = $1 AND NOT reconcile_requested`,
          [group(index)],
        );
        return rows.length === 1;
      });
    };
    await compared();
    await until('the removal was tried', async () => {
      const rows = await drawbridge.query(
        `SELECT 1 FROM rules WHERE ${rules} AND target_missing_since IS NOT NULL`,
      );
      return rows.length === 2;
    });
    /** Moves the start of the absence to the past, and waits for another look at both rules. */
    const missingFor = async (time: string): Promise<void> => {
      await drawbridge.query(
        `UPDATE rules SET target_missing_since = now() - $1::interval, attempts = 0,
           due_at = CASE WHEN due_at IS NOT NULL THEN now() END WHERE ${rules}`,
        [time],
      );
      await compared();
      await until('the removal was tried again', async () => {
        const rows = await drawbridge.query(
          `SELECT 1 FROM rules WHERE ${rules} AND unwanted_since IS NOT NULL AND attempts = 0`,
        );
        return rows.length === 0;
      });
    };
    return { org, live: live!, leaving: leaving!, missingFor };
  };

  it('a group that is not found for a while fails no session and closes none', async () => {
    const { org, live, leaving, missingFor } = await onMissingGroup(6, ['203.0.113.45', '203.0.113.46']);
    const [id] = org.resourceIds;
    const waiting = await org.started({ ipv4Address: '203.0.113.47' });
    await missingFor('5 hours');
    await drawbridge.query(`UPDATE resources SET verify_due_at = now() WHERE id = $1`, [id]);
    await until('the resource was checked', async () => {
      const rows = await drawbridge.query(
        `SELECT 1 FROM resources WHERE id = $1 AND verify_due_at > now() + interval '90 seconds'`,
        [id],
      );
      return rows.length === 1;
    });
    expect((await org.session(leaving)).status).toBe('EXPIRING');
    expect((await org.session(live)).status).toBe('ACTIVE');
    expect((await org.session(waiting.id)).status).toBe('PENDING');
    expect((await org.admin.get(`/resources/${id}`)).body).toMatchObject({ isActive: true });
    await drawbridge.cloud.clearFaults();
    await org.reaches(waiting.id, 'ACTIVE', 45_000);
    const ended = await org.reaches(leaving, 'CANCELLED', 45_000);
    expect(ended.resourceIps[0]!.status).toBe('REMOVED');
    expect((await org.session(live)).status).toBe('ACTIVE');
  });

  it('a group that is not found for hours is given up: its rules are not called removed', async () => {
    const { org, live, leaving, missingFor } = await onMissingGroup(7, ['203.0.113.48', '203.0.113.49']);
    await missingFor('7 hours');
    await org.reaches(leaving, 'CANCELLED');
    await drawbridge.query(
      `UPDATE resource_ips SET pending_since = now() - interval '6 minutes' WHERE session_id = $1`,
      [live],
    );
    await org.reaches(live, 'FAILED', 45_000);
    const now = new Date().toISOString();
    const possible = await org.admin.expect(
      200,
      org.admin.get<Possible[]>(`/reports/access?resourceId=${org.resourceIds[0]}&at=${now}`),
    );
    for (const [sessionId, address] of [
      [live, '203.0.113.48'],
      [leaving, '203.0.113.49'],
    ] as const) {
      const [ip] = (await org.session(sessionId)).resourceIps;
      expect(ip).toMatchObject({
        status: 'FAILED',
        removedAt: null,
        errorMessage: expect.stringMatching(/^Given up, not observed closed: .*sg-/) as string,
      });
      expect((await ledgerOf(drawbridge, address)).at(-1)).toMatchObject({
        kind: 'ABANDONED',
        cause: 'TARGET_GONE',
      });
      expect(possible.find(({ holderId }) => holderId === sessionId)).toMatchObject({ possibleUntil: null });
    }
    expect((await org.admin.get(`/resources/${org.resourceIds[0]}`)).body).toMatchObject({ isActive: false });
    await drawbridge.cloud.clearFaults();
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
