import { administrator, asked, asks, readRequest } from '../builders/requests/access-requests';
import { colleague } from '../builders/accounts/colleague';
import { organization, type Organization, sshTo } from '../builders/accounts/organization';
import { audited, newcomer, type Person } from '../builders/accounts/people';
import type { Answer, ApiClient, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const REASON = 'A laptop was stolen: INC-12';
const LOCKDOWN = '/organization/lockdown';

type Refused = Answer<{ message: string }>;
interface Shown {
  readonly lockdown: { readonly scope: string; readonly declaredBy: string } | null;
}

describe('A lockdown', () => {
  const drawbridge = Drawbridge.shared();
  let org: Organization;
  let ada: ApiClient;
  let bob: Person;
  let address = 0;

  beforeEach(async () => {
    org = await organization(drawbridge, sshTo(2));
    ada = org.admin;
    bob = await newcomer(drawbridge, ada, { isOrgAdmin: true, roleIds: [org.roleId] });
  });

  const start = (client: ApiClient, body: object = {}): Promise<Answer<Session>> =>
    client.post('/sessions', { ipv4Address: `203.0.113.${(address = (address % 250) + 1)}`, ...body });
  const lockDown = async (path = LOCKDOWN, body: object = {}): Promise<{ sessions: number }> =>
    ada.posted(path, { reason: REASON, ...body });
  const openRules = async (): Promise<string[]> => {
    const held = await drawbridge.query<{ address: string }>(
      `SELECT r.address FROM rules r JOIN rule_holders h ON h.rule_id = r.id JOIN resource_ips ip ON ip.id = h.resource_ip_id
       WHERE ip.organization_id = $1 AND r.state <> 'absent'`,
      [org.organizationId],
    );
    return held.map((rule) => rule.address);
  };
  const statuses = async (): Promise<string[]> => {
    const found = await drawbridge.query<{ status: string }>(
      'SELECT DISTINCT status FROM sessions WHERE organization_id = $1 ORDER BY status',
      [org.organizationId],
    );
    return found.map(({ status }) => status);
  };

  it('of the organization ends every session, refuses starts, extensions and renewals, and says why', async () => {
    const key = await org.apiKey(['sessions:write', 'sessions:read']);
    const own = await start(ada, { leaseSeconds: 60 });
    await start(key);
    await start(bob.client, { ipv4Address: '203.0.113.251' });
    expect(await lockDown()).toEqual({ sessions: 3, staticIpRules: 0 });
    const refusals: Refused[] = [
      await start(key),
      await start(bob.client),
      await ada.post(`/sessions/${own.body.id}/extend`, { additionalHours: 1 }),
      await ada.post(`/sessions/${own.body.id}/renew`),
    ] as unknown as Refused[];
    for (const { status, body } of refusals) {
      expect(status).toBe(403);
      expect(body.message).toContain(`locked down by ${org.adminEmail}`);
      expect(body.message).toContain(`${REASON}. Another administrator lifts it with DELETE ${LOCKDOWN}`);
    }
    await until('all have ended', async () => (await statuses()).join() === 'CANCELLED');
    expect(await openRules()).toEqual([]);
    expect(await org.session(own.body.id)).toMatchObject({ endedReason: 'ADMIN', endedCause: 'LOCKED_DOWN' });
    for (const path of ['/organization', '/auth/me'])
      expect((await ada.get<Shown>(path)).body.lockdown).toMatchObject({
        scope: 'ORGANIZATION',
        declaredBy: org.adminEmail,
        reason: REASON,
      });
    expect(await audited(drawbridge, org.organizationId, 'ORGANIZATION_LOCKED_DOWN')).toMatchObject([
      { actorEmail: org.adminEmail, details: { reason: REASON, sessions: 3 } },
    ]);
  });

  it('of a user ends and refuses what is theirs, and nothing of others', async () => {
    await start(ada);
    await start(bob.client);
    expect(await lockDown(`/users/${bob.id}/lockdown`)).toMatchObject({ sessions: 1 });
    expect([(await start(bob.client)).status, (await start(ada)).status]).toEqual([403, 200]);
    const shown = await ada.get<Shown>(`/users/${bob.id}`);
    expect(shown.body.lockdown).toMatchObject({ scope: 'USER', declaredBy: org.adminEmail });
    // the only other administrator is the one who is locked down
    expect((await bob.client.delete(`/users/${bob.id}/lockdown`)).status).toBe(403);
    await ada.expect(204, ada.delete(`/users/${bob.id}/lockdown`));
    expect((await start(bob.client)).status).toBe(200);
  });

  it('is lifted by another administrator, and by who declared it only where there is no other', async () => {
    await lockDown();
    const own = await ada.delete<{ message: string }>(LOCKDOWN);
    expect([own.status, own.body.message]).toEqual([403, expect.stringContaining('Another administrator')]);
    await ada.expect(200, ada.post(`/users/${bob.id}/lockdown`, { reason: REASON }));
    expect((await bob.client.delete(LOCKDOWN)).status).toBe(403);
    await ada.expect(204, ada.delete(`/users/${bob.id}/lockdown`));
    await ada.expect(204, bob.client.delete(LOCKDOWN));
    expect((await bob.client.delete(LOCKDOWN)).status).toBe(404);
    await lockDown();
    await ada.expect(200, ada.patch(`/users/${bob.id}`, { isOrgAdmin: false }));
    await ada.expect(204, ada.delete(LOCKDOWN));
    expect((await start(ada)).status).toBe(200);
  });

  it('of an approver leaves nothing to approve with, and withdraws what no session has used', async () => {
    await asks(org, { approvals: 2 });
    const [member, carl] = [await colleague(org), await administrator(org)];
    const approve = (client: ApiClient, id: string): Promise<Answer> =>
      client.post(`/access-requests/${id}/approve`);
    const [half, whole] = [
      await asked(org, member.client),
      await asked(org, member.client, { ticket: 'INC-2' }),
    ];
    for (const [client, id] of [
      [bob.client, half.id],
      [bob.client, whole.id],
      [carl.client, whole.id],
    ] as const)
      await client.expect(200, approve(client, id));
    await lockDown(`/users/${bob.id}/lockdown`);
    expect((await approve(bob.client, half.id)).status).toBe(403);
    expect(await readRequest(ada, half.id)).toMatchObject({ status: 'WAITING', approvals: 0, decisions: [] });
    expect(await readRequest(ada, whole.id)).toMatchObject({ status: 'LAPSED' });
    expect((await start(member.client, { accessRequestId: whole.id })).status).toBe(409);
    await carl.client.expect(200, approve(carl.client, half.id));
    await ada.expect(200, ada.patch(`/users/${carl.id}`, { isActive: false }));
    expect(await readRequest(ada, half.id)).toMatchObject({ status: 'WAITING', approvals: 0 });
    await bob.client.expect(200, bob.client.post(`/access-requests/${half.id}/deny`));
    expect(await audited(drawbridge, org.organizationId, 'ACCESS_REQUEST_APPROVAL_WITHDRAWN')).toHaveLength(
      2,
    );
  });

  it('is not lifted by who became an administrator since, and keeps one who may', async () => {
    await lockDown();
    const carl = await newcomer(drawbridge, ada, { isOrgAdmin: true });
    expect((await carl.client.delete(LOCKDOWN)).status).toBe(403);
    await ada.expect(200, ada.patch(`/users/${bob.id}`, { isOrgAdmin: false }));
    for (const change of [{ isOrgAdmin: false }, { isActive: false }])
      expect((await carl.client.patch(`/users/${org.adminId}`, change)).status).toBe(400);
    expect((await carl.client.delete(`/users/${org.adminId}`)).status).toBe(400);
    expect((await carl.client.delete(LOCKDOWN)).status).toBe(403);
    await ada.expect(204, ada.delete(LOCKDOWN));
    await carl.client.expect(204, carl.client.delete(`/users/${org.adminId}`));
    expect((await carl.client.post(`/users/${carl.id}/lockdown`, { reason: REASON })).status).toBe(400);
  });

  it('closes static IP rules where it is asked to, and opens them again when it is lifted', async () => {
    const [kept, gone] = org.resourceIds as [string, string];
    const rule = { label: 'Office', ipAddress: '198.51.100.7', resourceIds: [kept, gone] };
    const { id } = await ada.created<{ id: string }>('/static-ip-rules', rule);
    const shown = async (): Promise<{ status: string }> =>
      (await ada.get<{ status: string }>(`/static-ip-rules/${id}`)).body;
    await until('it is applied', async () => (await shown()).status === 'ACTIVE');
    await lockDown();
    expect(await shown()).toMatchObject({ status: 'ACTIVE' });
    const another = { ...rule, ipAddress: '198.51.100.8' };
    expect((await ada.post('/static-ip-rules', another)).status).toBe(403);
    await ada.expect(
      200,
      ada.patch(`/static-ip-rules/${id}`, { label: 'Old office', resourceIds: [kept, gone] }),
    );
    expect(await lockDown(LOCKDOWN, { staticRules: true })).toEqual({ sessions: 0, staticIpRules: 1 });
    await until('it is closed', async () => (await openRules()).length === 0);
    expect(await shown()).toMatchObject({ status: 'CLOSED', resources: [] });
    expect((await ada.post('/static-ip-rules', rule)).status).toBe(403);
    expect((await ada.patch(`/static-ip-rules/${id}`, { resourceIds: [kept] })).status).toBe(403);
    await ada.expect(204, ada.delete(`/resources/${gone}`));
    await ada.expect(204, bob.client.delete(LOCKDOWN));
    await until('it is open again', async () => (await openRules()).length === 1);
    expect(await shown()).toMatchObject({ resources: [{ resourceId: kept }] });
  });
});
