import { ownOrganization } from '../builders/accounts/organization';
import { newcomer } from '../builders/accounts/people';
import type { Answer, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const RENEWALS = 1000;

describe('A lease that is not renewed ends the session', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let addresses = 0;

  beforeAll(async () => {
    // comparisons read targets whether or not anything is renewed
    await drawbridge.startWorker({ RECONCILE_SECONDS: '3600' });
  });

  const leased = (leaseSeconds = 300): Promise<Session> =>
    org.started({ ipv4Address: `203.0.113.${(addresses += 1)}`, leaseSeconds });
  const renew = (id: string): Promise<Answer<Session & { message: string }>> =>
    org.admin.post(`/sessions/${id}/renew`);
  const leaseEndsIn = (id: string, seconds: number): Promise<object[]> =>
    drawbridge.query('UPDATE sessions SET lease_until = now() + make_interval(secs => $2) WHERE id = $1', [
      id,
      seconds,
    ]);
  const isOpen = async (address: string): Promise<boolean> =>
    (await drawbridge.cloud.rules()).some((rule) => rule.address === address);

  it('the rule is gone after the lease', async () => {
    const { id, ipv4Address } = await leased();
    await org.reaches(id, 'ACTIVE');
    expect(await isOpen(ipv4Address!)).toBe(true);
    await leaseEndsIn(id, 1);
    await until('the rule is gone', async () => !(await isOpen(ipv4Address!)));
    expect(await org.reaches(id, 'EXPIRED')).toMatchObject({ endedReason: 'EXPIRED' });
    const records = await drawbridge.query<{ details: object }>(
      `SELECT details FROM audit_records WHERE event_type = 'SESSION_EXPIRED' AND resource_id = $1`,
      [id],
    );
    expect(records).toMatchObject([{ details: { leaseLost: true } }]);
    expect(await renew(id)).toMatchObject({ status: 409 });
  });

  it('a renewal prolongs the lease from now, and never beyond expiresAt', async () => {
    const session = await leased(60);
    expect(Date.parse(session.leaseUntil!) - Date.parse(session.startedAt)).toBe(60_000);
    await leaseEndsIn(session.id, 20);
    const { status, body } = await renew(session.id);
    expect(status).toBe(200);
    expect(Date.parse(body.leaseUntil!)).toBeGreaterThan(Date.parse(session.startedAt) + 59_000);
    await org.expire(session.id, 30_000);
    const capped = (await renew(session.id)).body;
    expect(capped.leaseUntil).toBe(capped.expiresAt);
  });

  it('a thousand renewals make no cloud call, and one audit record of the other address that they come from', async () => {
    const ipv4Address = '198.51.100.9';
    const detected = { 'X-Forwarded-For': ipv4Address };
    const { id } = await org.admin.expect(
      200,
      org.admin.post<Session>('/sessions', { leaseSeconds: 300 }, detected),
    );
    await org.reaches(id, 'ACTIVE');
    const calls = async (): Promise<number> => (await drawbridge.cloud.calls()).length;
    const records = (): Promise<object[]> =>
      drawbridge.query('SELECT details FROM audit_records WHERE resource_id = $1 ORDER BY timestamp', [id]);
    const callsBefore = await calls();
    const recordsBefore = await records();
    const renewedFrom = '127.0.0.1';
    for (let renewals = 0; renewals < RENEWALS; renewals += 1)
      expect(await renew(id)).toMatchObject({ status: 200, body: { renewedFrom } });
    // the worker compares its targets meanwhile
    expect((await calls()) - callsBefore).toBeLessThan(10);
    expect(await records()).toEqual([...recordsBefore, { details: { renewedFrom, address: ipv4Address } }]);
    expect(await isOpen(ipv4Address)).toBe(true);
  });

  it('a renewal from where a session for another address was started is nothing to tell', async () => {
    const { id } = await leased();
    expect(await renew(id)).toMatchObject({ status: 200, body: { renewedFrom: null } });
  });

  it('a session without a lease, and one of another user, are refused', async () => {
    const plain = await org.started({ ipv4Address: '198.51.100.1' });
    expect(plain.leaseUntil).toBeNull();
    expect((await renew(plain.id)).status).toBe(400);
    const { client } = await newcomer(drawbridge, org.admin, { roleIds: [org.roleId] });
    expect((await client.post(`/sessions/${(await leased()).id}/renew`)).status).toBe(403);
  });

  it.each([59, 3601, 60.5, 'x'])('a lease of %s seconds is refused', async (leaseSeconds) => {
    const answer = await org.admin.post('/sessions', { ipv4Address: '198.51.100.2', leaseSeconds });
    expect(answer.status).toBe(400);
  });
});
