import { administrator, ask, asked, asks, readRequest } from '../builders/requests/access-requests';
import { auditRecords } from '../builders/audit/audit-trail';
import { colleague, type Colleague } from '../builders/accounts/colleague';
import { group, ownOrganization } from '../builders/accounts/organization';
import type { Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

describe('An approver withdraws an approval', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
  let member: Colleague;
  let approvers: Colleague[];

  beforeAll(async () => {
    member = await colleague(org);
    approvers = [await administrator(org), await administrator(org)];
  });

  const decide = async (index: number, id: string, as: 'approve' | 'withdraw'): Promise<number> =>
    (await approvers[index]!.client.post(`/access-requests/${id}/${as}`)).status;

  it('before a session has used it: no session starts with it', async () => {
    await asks(org, { approvals: 1 });
    const { id } = await asked(org, member.client);
    expect([await decide(0, id, 'approve'), await decide(1, id, 'withdraw')]).toEqual([200, 409]);
    expect(await decide(0, id, 'withdraw')).toBe(200);
    expect(await readRequest(member.client, id)).toMatchObject({ status: 'LAPSED' });
    expect((await member.client.post('/sessions', { accessRequestId: id })).status).toBe(409);
    expect(await decide(0, id, 'withdraw')).toBe(409);
    const [last] = await auditRecords(org.admin, `?resourceId=${id}&eventType=ACCESS_REQUEST_LAPSED`);
    expect(last).toMatchObject({ actorEmail: approvers[0]!.email });
  });

  it('of two: the request waits for another one, also of the same approver', async () => {
    await asks(org, { approvals: 2 });
    const { id } = await asked(org, member.client);
    for (const as of ['approve', 'withdraw'] as const) expect(await decide(0, id, as)).toBe(200);
    expect(await readRequest(member.client, id)).toMatchObject({ status: 'WAITING', approvals: 0 });
    for (const index of [0, 1]) expect(await decide(index, id, 'approve')).toBe(200);
    const { status } = await member.client.post<Session>('/sessions', { accessRequestId: id });
    expect([status, await decide(0, id, 'withdraw')]).toEqual([200, 409]);
  });

  it('and who asks twice for the same has asked once', async () => {
    const first = await asked(org, member.client, { ticket: 'INC-1' });
    expect((await ask(org, member.client, { ticket: 'INC-1' })).body.id).toBe(first.id);
    expect((await ask(org, member.client, { ticket: 'INC-2' })).body.id).not.toBe(first.id);
    expect(await auditRecords(org.admin, `?resourceId=${first.id}`)).toHaveLength(1);
  });
});
