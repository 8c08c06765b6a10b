import { randomUUID } from 'node:crypto';
import { group, ownOrganization } from '../../builders/accounts/organization';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { containing, matching } from '../../harness/matching';

const ADD = 'AuthorizeSecurityGroupIngress';
const REMOVE = 'RevokeSecurityGroupIngress';
const READ = 'DescribeSecurityGroupRules';
const statuses = ({ resourceIps }: Session): string[] => resourceIps.map((ip) => ip.status);

let lastOctet = 0;
/** An address that no other session here has. */
const fresh = (): string => `203.0.113.${(lastOctet += 1)}`;

const LIVE = { endedAt: null, endedReason: null, endedCause: null };

describe('3.1 and 3.2 The statuses of a session and of its ResourceIps', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, [
    { group: group(0), config: { port: 22 } },
    { group: group(1), config: { port: 22 } },
  ]);

  afterEach(() => drawbridge.cloud.clearFaults());

  const active = async (body: object = {}): Promise<Session> => {
    const { id } = await org.started({ ipv4Address: fresh(), ...body });
    return org.reaches(id, 'ACTIVE');
  };
  const stop = (id: string): Promise<Session> => org.admin.posted(`/sessions/${id}/stop`);
  const refuse = (operation: string, ...groups: number[]): Promise<unknown> =>
    Promise.all(
      groups.map((index) =>
        drawbridge.cloud.fault({ kind: 'refuse', target: group(index), operation, seconds: 60 }),
      ),
    );
  const isOpen = async (address: string | null): Promise<boolean> =>
    (await drawbridge.cloud.rules()).some((rule) => rule.address === address);

  it('2.1 and 2.2: what applies later is null until then, and the same fields have it afterwards', async () => {
    const [ipv4Address, ipv6Address] = [fresh(), '2001:db8::1'];
    const later = { appliedAt: null, removedAt: null, errorMessage: null, providerRuleId: null };
    const { body: me } = await org.admin.get<{ id: string; name: string; email: string }>('/auth/me');
    const pending = await org.started({ ipv4Address, ipv6Address, resourceIds: [org.resourceIds[0]] });
    expect(pending).toMatchObject({
      status: 'PENDING',
      userId: me.id,
      userName: me.name,
      userEmail: me.email,
      createdAt: pending.startedAt,
      ...LIVE,
    });
    expect(Date.parse(pending.expiresAt) - Date.parse(pending.startedAt)).toBe(3_600_000);
    expect(pending.resourceIps).toMatchObject([
      { resourceName: 'resource-0', ipVersion: 4, ipAddress: ipv4Address, status: 'PENDING', ...later },
      { resourceName: 'resource-0', ipVersion: 6, ipAddress: ipv6Address, status: 'PENDING', ...later },
    ]);
    const opened = await org.reaches(pending.id, 'ACTIVE');
    expect(opened).toMatchObject({ startedAt: pending.startedAt, createdAt: pending.startedAt, ...LIVE });
    const applied = { ...later, appliedAt: matching(/Z$/), providerRuleId: matching(/^sgr-/) };
    expect(opened.resourceIps).toMatchObject([applied, applied]);
    await stop(pending.id);
    const ended = await org.reaches(pending.id, 'CANCELLED');
    expect(ended).toMatchObject({ endedReason: 'MANUAL', endedCause: 'SESSION_STOPPED' });
    expect(Date.parse(ended.endedAt!)).toBeGreaterThan(Date.parse(ended.startedAt));
  });

  it('PENDING to PARTIAL when some were applied and some failed: the failed ones carry errorMessage', async () => {
    await refuse(ADD, 1);
    const { id } = await org.started({ ipv4Address: fresh() });
    const partial = await org.reaches(id, 'PARTIAL');
    expect(statuses(partial)).toEqual(['APPLIED', 'FAILED']);
    expect(partial).toMatchObject(LIVE);
    expect(partial.resourceIps).toMatchObject([
      { errorMessage: null },
      { errorMessage: containing('Unauthorized'), providerRuleId: null, appliedAt: null },
    ]);
  });

  it('PENDING to FAILED when all failed', async () => {
    await refuse(ADD, 0, 1);
    const { id } = await org.started({ ipv4Address: fresh() });
    const failed = await org.reaches(id, 'FAILED');
    expect(statuses(failed)).toEqual(['FAILED', 'FAILED']);
    expect(failed).toMatchObject({ endedAt: null, endedReason: null });
  });

  it('EXPIRING lasts as long as one rule is still in the cloud', async () => {
    const { id } = await active();
    await refuse(REMOVE, 1);
    await stop(id);
    await until('one of the two is removed', async () => statuses(await org.session(id)).includes('REMOVED'));
    expect((await org.session(id)).status).toBe('EXPIRING');
    await drawbridge.cloud.clearFaults();
    await org.reaches(id, 'CANCELLED');
  });

  it('ACTIVE to EXPIRING to EXPIRED at its time: rules removed, endedReason EXPIRED', async () => {
    const { id, ipv4Address } = await active();
    await refuse(REMOVE, 0, 1);
    await org.expire(id);
    const expiring = await org.reaches(id, 'EXPIRING');
    expect(expiring).toMatchObject({ endedReason: 'EXPIRED' });
    expect(statuses(expiring)).toEqual(['REMOVING', 'REMOVING']);
    await drawbridge.cloud.clearFaults();
    const expired = await org.reaches(id, 'EXPIRED');
    expect(statuses(expired)).toEqual(['REMOVED', 'REMOVED']);
    expect(await isOpen(ipv4Address)).toBe(false);
  });

  it('PARTIAL expires like ACTIVE; its FAILED ResourceIp stays FAILED', async () => {
    await refuse(ADD, 1);
    const { id } = await org.started({ ipv4Address: fresh() });
    await org.reaches(id, 'PARTIAL');
    await org.expire(id);
    expect(statuses(await org.reaches(id, 'EXPIRED'))).toEqual(['REMOVED', 'FAILED']);
  });

  it('PENDING expires like ACTIVE', async () => {
    await Promise.all(
      [0, 1].map((index) =>
        drawbridge.cloud.fault({ kind: 'throttle', target: group(index), operation: ADD, seconds: 60 }),
      ),
    );
    const { id, ipv4Address } = await org.started({ ipv4Address: fresh() });
    await org.expire(id);
    const expired = await org.reaches(id, 'EXPIRED');
    expect(statuses(expired)).toEqual(['REMOVED', 'REMOVED']);
    expect(await isOpen(ipv4Address)).toBe(false);
  });

  it('started again while the old one is EXPIRING, the rule stays in place without a gap', async () => {
    const first = await active({ resourceIds: [org.resourceIds[0]] });
    await refuse(REMOVE, 0);
    expect(await stop(first.id)).toMatchObject({ status: 'EXPIRING' });
    const second = await active({ ipv4Address: first.ipv4Address, resourceIds: [org.resourceIds[0]] });
    await org.reaches(first.id, 'CANCELLED');
    await drawbridge.cloud.clearFaults();
    const events = async (): Promise<string[]> =>
      (await drawbridge.cloud.timeline())
        .filter(({ address }) => address === first.ipv4Address)
        .map(({ event }) => event);
    expect(await events()).toEqual(['opened']);
    await stop(second.id);
    await org.reaches(second.id, 'CANCELLED');
    expect(await events()).toEqual(['opened', 'closed']);
  });

  it('FAILED is final: a rule of it that turns out to be in the cloud after all is removed', async () => {
    const address = fresh();
    const target = group(0);
    await drawbridge.cloud.fault({ kind: 'slow', target, operation: ADD, delayMs: 1500, count: 1 });
    const { id } = await org.started({ ipv4Address: address, resourceIds: [org.resourceIds[0]] });
    await until('the add is on its way', async () => {
      const [rule] = await drawbridge.query(
        'SELECT FROM rules WHERE address = $1 AND in_flight_until IS NOT NULL',
        [`${address}/32`],
      );
      return rule;
    });
    await drawbridge.cloud.fault({ kind: 'error', target, operation: READ, seconds: 60 });
    await org.waitedTooLong(id);
    await org.reaches(id, 'FAILED');
    expect(await isOpen(address)).toBe(true);
    await drawbridge.cloud.clearFaults();
    await drawbridge.query('UPDATE rules SET due_at = now() WHERE address = $1', [`${address}/32`]);
    await until('it is closed', async () => !(await isOpen(address)));
    const session = await org.session(id);
    expect([session.status, ...statuses(session)]).toEqual(['FAILED', 'FAILED']);
  });

  it('POST with waitSeconds answers once it is ACTIVE, also when it is sent again', async () => {
    const body = { ipv4Address: fresh() };
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await org.admin.post<Session>('/sessions?waitSeconds=30', body, headers);
    expect(first).toMatchObject({ status: 200, body: { status: 'ACTIVE' } });
    expect(statuses(first.body)).toEqual(['APPLIED', 'APPLIED']);
    const again = await org.admin.post<Session>('/sessions?waitSeconds=30', body, headers);
    expect(again).toMatchObject({ status: 200, body: { id: first.body.id, status: 'ACTIVE' } });
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
  });

  it('GET with waitSeconds follows it from PENDING to ACTIVE, and from EXPIRING to CANCELLED', async () => {
    const { id } = await org.started({ ipv4Address: fresh() });
    const settled = (): Promise<Session> =>
      org.admin.expect(200, org.admin.get<Session>(`/sessions/${id}?waitSeconds=30`));
    expect((await settled()).status).toBe('ACTIVE');
    await stop(id);
    expect((await settled()).status).toBe('CANCELLED');
  });
});
