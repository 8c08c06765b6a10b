import {
  administrator,
  ask,
  asked,
  asks,
  readRequest,
  REASON,
  type AccessRequest,
} from '../builders/requests/access-requests';
import { auditRecords } from '../builders/audit/audit-trail';
import { colleague, type Colleague } from '../builders/accounts/colleague';
import { group, ownOrganization } from '../builders/accounts/organization';
import type { Answer, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

interface Refused {
  readonly error: string;
  readonly message: string;
  readonly validationErrors?: Readonly<Record<string, string>>;
}

interface Grounded extends Session {
  readonly reason: string | null;
  readonly ticket: string | null;
  readonly approvers: readonly string[];
  readonly accessRequestId: string | null;
}

describe('Access needs approval where a role asks for it', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, [{ group: group(0), config: { port: 22 } }, { group: group(1) }]);
  let member: Colleague;
  let other: Colleague;
  let address = 0;
  const free = (): { ipv4Address: string } => ({ ipv4Address: `198.51.100.${(address += 1)}` });

  beforeAll(async () => {
    member = await colleague(org);
    other = await administrator(org);
  });
  beforeEach(async () => {
    await asks(org, { requireReason: false, reasonPattern: null, approvals: 1, approverRoleIds: [] });
  });

  const start = (body: object): Promise<{ status: number; body: Grounded & Refused }> =>
    member.client.post<Grounded & Refused>('/sessions', body);
  const approved = async (body: object = {}): Promise<string> => {
    const { id } = await asked(org, member.client, body);
    await other.client.expect(200, other.client.post(`/access-requests/${id}/approve`));
    return id;
  };

  it('a reason that a role asks for is refused on its field when it is missing or unlike the pattern', async () => {
    await asks(org, { requireReason: true, reasonPattern: 'INC-*', approvals: 0 });
    const answers = [await start(free()), await start({ ...free(), reason: 'disk' })];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect(answers.map(({ body }) => body.validationErrors?.['reason'])).toEqual([
      expect.stringContaining('is required like INC-*') as string,
      'must be like INC-*',
    ]);
    expect((await start({ ...free(), reason: REASON })).body).toMatchObject({
      reason: REASON,
      approvers: [],
    });
  });

  it('a start is refused with what to do, and begins once another person has approved', async () => {
    const where = free();
    const refused = await start(where);
    expect([refused.status, refused.body.error]).toEqual([403, 'Approval required']);
    expect(refused.body.message).toMatch(/other administrators.*POST \/access-requests/);
    const request = await asked(org, member.client, { ...where, ticket: 'INC-12' });
    expect(request).toMatchObject({ status: 'WAITING', approvalsNeeded: 1, approvals: 0, mayDecide: false });
    expect(Date.parse(request.decideBy!) - Date.now()).toBeGreaterThan(23 * 3_600_000);
    const waiting = member.client.get(`/access-requests/${request.id}?waitSeconds=30`);
    const decided = other.client.post(`/access-requests/${request.id}/approve`, { note: 'For an hour' });
    expect(await other.client.expect(200, decided)).toMatchObject({ status: 'APPROVED', approvals: 1 });
    expect((await waiting).body).toMatchObject({ status: 'APPROVED' });
    const session = await start({ ...where, reason: REASON, ticket: 'INC-12' });
    expect(session.body).toMatchObject({ accessRequestId: request.id, approvers: [other.email] });
    expect(await readRequest(member.client, request.id)).toMatchObject({
      status: 'USED',
      sessionId: session.body.id,
      decisions: [{ userEmail: other.email, decision: 'APPROVED', note: 'For an hour' }],
    });
    const again = await start({ ...where, holder: 'again', accessRequestId: request.id });
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('USED')]);
  });

  it('reason, ticket and approvers are in the session, its record, the report and its CSV', async () => {
    const id = await approved({ ...free(), ticket: 'INC-12' });
    const session = await start({ accessRequestId: id });
    const grounds = { reason: REASON, ticket: 'INC-12', approvers: [other.email], breakGlass: false };
    expect(session.body).toMatchObject(grounds);
    const [record] = await auditRecords(
      org.admin,
      `?resourceId=${session.body.id}&eventType=SESSION_STARTED`,
    );
    const { breakGlass: _, ...recorded } = grounds;
    expect(record!.details).toMatchObject({ ...recorded, accessRequestId: id });
    await org.reaches(session.body.id, 'ACTIVE');
    const path = `/reports/access?userId=${member.id}&at=${new Date().toISOString()}`;
    const items = await org.admin.expect(200, org.admin.get<{ holderId: string }[]>(path));
    expect(items).toContainEqual(expect.objectContaining({ holderId: session.body.id, ...grounds }));
    const csv = await org.admin.expect(200, org.admin.get<string>(`${path}&format=csv`));
    expect(csv).toContain(`,${REASON},INC-12,${other.email},false\r\n`);
  });

  it('each person decides once, and two approvals need two people', async () => {
    await asks(org, { approvals: 2 });
    const third = await administrator(org);
    const { id } = await asked(org, member.client, free());
    const approve = (who: Colleague): Promise<number> =>
      who.client.post(`/access-requests/${id}/approve`).then(({ status }) => status);
    expect([await approve(other), await approve(other)]).toEqual([200, 409]);
    expect((await start({ accessRequestId: id })).status).toBe(409);
    expect(await approve(third)).toBe(200);
    expect((await start({ accessRequestId: id })).status).toBe(200);
    const records = await auditRecords(org.admin, `?resourceId=${id}`);
    const done = records.filter(({ result }) => result === 'SUCCESS');
    expect(done.map(({ eventType }) => eventType)).toEqual([
      'ACCESS_REQUEST_APPROVED',
      'ACCESS_REQUEST_APPROVAL_GIVEN',
      'ACCESS_REQUESTED',
    ]);
  });

  it('members of the approver roles decide, and administrators once the last of them is deleted', async () => {
    const deciders = await org.admin.created<{ id: string }>('/roles', { name: `deciders ${address}` });
    const decider = await colleague(org, [deciders.id]);
    await asks(org, { approverRoleIds: [deciders.id] });
    const { id } = await asked(org, member.client, free());
    const refused = await other.client.post<Refused>(`/access-requests/${id}/approve`);
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('"deciders')]);
    const view = await decider.client.expect(
      200,
      decider.client.get<{ id: string }[]>('/access-requests?view=decide'),
    );
    expect(view.map((one) => one.id)).toEqual([id]);
    const second = await asked(org, member.client, free());
    await decider.client.expect(200, decider.client.post(`/access-requests/${id}/approve`));
    await org.admin.expect(204, org.admin.delete(`/roles/${deciders.id}`));
    expect((await decider.client.post(`/access-requests/${second.id}/approve`)).status).toBe(403);
    await other.client.expect(200, other.client.post(`/access-requests/${second.id}/approve`));
    for (const one of [id, second.id]) expect((await start({ accessRequestId: one })).status).toBe(200);
  });

  it.each([
    ['deny', 'DENIED', (): Colleague => other],
    ['cancel', 'CANCELLED', (): Colleague => member],
  ])('%s makes it %s, for good', async (action, status, who) => {
    const { id } = await asked(org, member.client, free());
    await who().client.expect(200, who().client.post(`/access-requests/${id}/${action}`));
    expect(await readRequest(member.client, id)).toMatchObject({ status, decideBy: null });
    expect((await other.client.post(`/access-requests/${id}/approve`)).status).toBe(409);
    expect((await start({ accessRequestId: id })).status).toBe(409);
  });

  it('what is not decided in 24 hours, or not used in one, ends by itself and is recorded', async () => {
    const { id } = await asked(org, member.client, free());
    const unused = await approved(free());
    await drawbridge.query('UPDATE access_requests SET due_at = now() WHERE id IN ($1, $2)', [id, unused]);
    expect((await other.client.post(`/access-requests/${id}/approve`)).status).toBe(409);
    expect((await start({ accessRequestId: unused })).status).toBe(409);
    for (const [one, event] of [
      [id, 'ACCESS_REQUEST_EXPIRED'],
      [unused, 'ACCESS_REQUEST_LAPSED'],
    ] as const)
      await until(
        event,
        async () => (await auditRecords(org.admin, `?resourceId=${one}&eventType=${event}`)).length === 1,
      );
    expect((await readRequest(member.client, unused)).status).toBe('LAPSED');
  });

  it('an approval is for its resources, address, hours and reason, and for what the role asks for now', async () => {
    const where = free();
    const [first] = org.resourceIds;
    const id = await approved({ ...where, resourceIds: [first], durationHours: 2 });
    const others = [
      { ...where, resourceIds: org.resourceIds },
      { ...free(), resourceIds: [first] },
      { ...where, durationHours: 3 },
      { ...where, reason: 'INC-13: another reason' },
      { ...where, ticket: 'INC-13' },
    ];
    for (const body of others) {
      expect((await start({ ...body, accessRequestId: id })).status).toBe(403);
      const unnamed = await start({ resourceIds: [first], reason: REASON, ...body });
      expect(unnamed.body.error).toBe('Approval required');
    }
    await asks(org, { approvals: 2 });
    const less = await start({ accessRequestId: id });
    expect([less.status, less.body.message]).toEqual([403, expect.stringContaining('ask again')]);
    await asks(org, { approvals: 1 });
    const session = await start({ accessRequestId: id });
    expect(session.body.resourceIps.map(({ resourceId }) => resourceId)).toEqual([first]);
    const extended = await member.client.post<Refused>(`/sessions/${session.body.id}/extend`, {
      additionalHours: 1,
    });
    expect([extended.status, extended.body.error]).toEqual([403, 'Approval required']);
  });

  it('is given back by who asked for it', async () => {
    const id = await approved(free());
    const cancel = (): Promise<Answer<AccessRequest>> => member.client.post(`/access-requests/${id}/cancel`);
    expect((await cancel()).body).toMatchObject({ status: 'LAPSED' });
    expect([(await cancel()).status, (await start({ accessRequestId: id })).status]).toEqual([409, 409]);
  });

  it('nothing waits for people who are not there', async () => {
    const { id } = await org.admin.created<{ id: string }>('/roles', {
      name: `alone ${address}`,
      userIds: [member.id],
    });
    await asks(org, { approverRoleIds: [id] });
    const unheard = await ask(org, member.client, free());
    expect([unheard.status, (unheard.body as unknown as Refused).message]).toEqual([
      409,
      expect.stringContaining('there are none'),
    ]);
    await asks(org, { approverRoleIds: [] });
  });

  it('an open request ends with its requester', async () => {
    const leaver = await colleague(org);
    const { id } = await asked(org, leaver.client, free());
    const unused = await asked(org, leaver.client, free());
    await other.client.expect(200, other.client.post(`/access-requests/${unused.id}/approve`));
    await org.admin.expect(200, org.admin.patch(`/users/${leaver.id}`, { isActive: false }));
    expect((await readRequest(org.admin, id)).status).toBe('CANCELLED');
    expect((await readRequest(org.admin, unused.id)).status).toBe('LAPSED');
  });

  it('what its requester can open no longer is not approved, and says so as long as that is so', async () => {
    const [first, second] = org.resourceIds;
    const mover = await colleague(org);
    const { id } = await asked(org, mover.client, { ...free(), resourceIds: [first, second] });
    const unavailable = async (): Promise<readonly string[]> =>
      (await readRequest(other.client, id)).unavailableResourceIds;
    const both = expect.arrayContaining([first, second]) as unknown;
    const approve = (): Promise<Answer<Refused>> => other.client.post(`/access-requests/${id}/approve`);
    const membership = `/roles/${org.roleId}/users/${mover.id}`;
    expect(await unavailable()).toEqual([]);
    await org.admin.expect(204, org.admin.delete(membership));
    expect(await unavailable()).toEqual(both);
    const refused = await approve();
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining('could not open it'),
    ]);
    await org.admin.posted(membership);
    await org.admin.posted(`/users/${mover.id}/lockdown`, { reason: 'lost laptop' });
    expect([(await approve()).status, await unavailable()]).toEqual([409, both]);
    await other.client.expect(204, other.client.delete(`/users/${mover.id}/lockdown`));
    await org.admin.expect(204, org.admin.delete(`/roles/${org.roleId}/resources/${second}`));
    expect(await unavailable()).toEqual([second]);
    expect((await approve()).status).toBe(200);
    const whole = await mover.client.post<Refused>('/sessions', { accessRequestId: id });
    expect([whole.status, whole.body.message]).toEqual([403, expect.stringContaining('not assigned to you')]);
    const rest = await mover.client.post<Session>('/sessions', { accessRequestId: id, resourceIds: [first] });
    expect(rest.status).toBe(200);
    expect(await unavailable()).toEqual([]);
    await org.admin.posted(`/roles/${org.roleId}/resources/${second}`);
  });

  it('nothing is asked that needs no approval, or that different people decide', async () => {
    const [, second] = org.resourceIds;
    const body = { name: 'Second', resourceIds: [second], userIds: [member.id], maxSessionDurationHours: 2 };
    const role = await org.admin.created<{ id: string }>('/roles', {
      ...body,
      approvals: 1,
      approverRoleIds: [org.roleId],
    });
    await org.admin.expect(204, org.admin.delete(`/roles/${org.roleId}/resources/${second}`));
    const different = await member.client.post<Refused>('/access-requests', {
      resourceIds: org.resourceIds,
      durationHours: 1,
      reason: REASON,
    });
    expect([different.status, different.body.message]).toEqual([
      400,
      expect.stringContaining('Different people'),
    ]);
    await org.admin.expect(204, org.admin.delete(`/roles/${role.id}`));
    await org.admin.posted(`/roles/${org.roleId}/resources/${second}`);
    await asks(org, { approvals: 0 });
    expect((await ask(org, member.client, free())).status).toBe(400);
  });

  it('an IPv6 address is opened as the range that the role says', async () => {
    await asks(org, { approvals: 0, ipv6PrefixLength: 64 });
    const session = await start({ ipv6Address: '2001:db8:7:1::10' });
    expect(session.body.ipv6Address).toBe('2001:db8:7:1::10');
    expect(session.body.resourceIps.map(({ ipAddress }) => ipAddress)).toContain('2001:db8:7:1::/64');
    await org.reaches(session.body.id, 'ACTIVE');
    expect((await drawbridge.cloud.rules()).map((rule) => rule.address)).toContain('2001:db8:7:1::/64');
    await asks(org, { ipv6PrefixLength: 128 });
  });
});
