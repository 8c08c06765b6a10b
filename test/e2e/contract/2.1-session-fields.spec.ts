import { ownOrganization } from '../../builders/accounts/organization';
import type { ResourceIp, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('2.1 and 2.2 The fields of a session and of its ResourceIps', () => {
  const drawbridge = Drawbridge.own({ simulator: { SIMULATOR_RULES_PER_GROUP: '1' } });
  const org = ownOrganization(drawbridge);
  let pending: Session;
  let active: Session;
  let ended: Session;
  let partial: Session;

  beforeAll(async () => {
    pending = await org.started({ ipv4Address: '203.0.113.1', ipv6Address: '2001:db8::1' });
    active = await org.reaches(pending.id, 'ACTIVE');
    const second = await org.started({
      ipv4Address: '203.0.113.2',
      ipv6Address: '2001:db8::1',
      holder: 'other',
    });
    partial = await org.reaches(second.id, 'PARTIAL');
    await org.admin.posted(`/sessions/${pending.id}/stop`);
    ended = await org.reaches(pending.id, 'CANCELLED');
  });

  it('a session has exactly its fields, and holder', () => {
    const fields = `id userId userName userEmail ipv4Address ipv6Address holder status startedAt expiresAt leaseUntil endedAt
      endedReason endedCause resourceIps reason ticket accessRequestId approvers breakGlass opensInSeconds createdAt`;
    expect(Object.keys(active).toSorted()).toEqual(fields.split(/\s+/).toSorted());
  });

  it('a ResourceIp has exactly its fields', () => {
    const fields = `id resourceId resourceName ipVersion ipAddress status providerRuleId appliedAt removedAt
      errorMessage stillAllowedBy endpoint warnings effectiveBy`;
    expect(Object.keys(active.resourceIps[0]!).toSorted()).toEqual(fields.split(/\s+/).toSorted());
  });

  it('every answer with a session has the same fields', async () => {
    const lists = await Promise.all(
      ['/sessions', '/sessions/admin'].map((path) => org.admin.expect(200, org.admin.get<Session[]>(path))),
    );
    for (const session of [pending, ended, partial, ...lists.flat()]) {
      expect(Object.keys(session).toSorted()).toEqual(Object.keys(active).toSorted());
    }
  });

  it('userName and userEmail are those of the user who started it', async () => {
    const { body } = await org.admin.get<{ id: string; name: string; email: string }>('/auth/me');
    expect(active).toMatchObject({ userId: body.id, userName: body.name, userEmail: body.email });
  });

  it('startedAt is its creation, expiresAt its automatic end', () => {
    expect(active).toMatchObject({ startedAt: pending.startedAt, createdAt: pending.startedAt });
    expect(Date.parse(active.expiresAt) - Date.parse(active.startedAt)).toBe(3_600_000);
  });

  it('endedAt and endedReason are null while it is live, and set from the stop on', () => {
    for (const session of [pending, active, partial]) {
      expect(session).toMatchObject({ endedAt: null, endedReason: null, endedCause: null });
    }
    expect(ended).toMatchObject({ endedReason: 'MANUAL', endedCause: 'SESSION_STOPPED' });
    expect(Date.parse(ended.endedAt!)).toBeGreaterThan(Date.parse(ended.startedAt));
  });

  it('an address of the other family is null when there is none', async () => {
    const { body } = await org.admin.post<Session>(
      '/sessions',
      { ipv4Address: '203.0.113.9' },
      { 'X-Forwarded-For': '203.0.113.9' },
    );
    expect(body).toMatchObject({ ipv4Address: '203.0.113.9', ipv6Address: null });
  });

  it('there is one ResourceIp for each resource and address, with its version', () => {
    const summaryOf = ({ ipVersion, ipAddress, resourceName }: ResourceIp): unknown => [
      ipVersion,
      ipAddress,
      resourceName,
    ];
    expect(active.resourceIps.map(summaryOf)).toEqual([
      [4, '203.0.113.1', 'resource-0'],
      [6, '2001:db8::1', 'resource-0'],
    ]);
  });

  it('providerRuleId, appliedAt, removedAt and errorMessage are null before they apply', () => {
    for (const ip of pending.resourceIps) {
      expect(ip).toMatchObject({
        providerRuleId: null,
        appliedAt: null,
        removedAt: null,
        errorMessage: null,
      });
    }
    for (const ip of active.resourceIps) expect(ip).toMatchObject({ removedAt: null, errorMessage: null });
  });

  it('providerRuleId is the cloud’s own id, errorMessage the description of a FAILED one', () => {
    expect(active.resourceIps.every((ip) => ip.providerRuleId!.startsWith('sgr-'))).toBe(true);
    const failed = partial.resourceIps.find((ip) => ip.status === 'FAILED')!;
    expect(failed).toMatchObject({ ipVersion: 4, providerRuleId: null, appliedAt: null });
    expect(failed.errorMessage).toMatch(/RulesPerSecurityGroupLimitExceeded/);
  });
});
