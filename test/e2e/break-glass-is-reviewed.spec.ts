import {
  administrator,
  asks,
  readRequest,
  REASON,
  type AccessRequest,
} from '../builders/requests/access-requests';
import { totpOf } from '../builders/accounts/accounts';
import { auditRecords } from '../builders/audit/audit-trail';
import { colleague, type Colleague } from '../builders/accounts/colleague';
import { ownOrganization } from '../builders/accounts/organization';
import { webhook } from '../builders/notices/webhooks';
import type { Answer, ApiClient, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { WebhookReceiver } from '../harness/receivers/webhook-receiver';

interface Refused {
  readonly message: string;
}

describe('Without approval a session needs the second factor, and a review by another administrator', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const GLASS = { ipv4Address: '198.51.100.1', reason: REASON, breakGlass: true };
  let member: Colleague;
  let codes: string[];

  const start = (body: object, client = member.client): Promise<Answer<Session & Refused>> =>
    client.post<Session & Refused>('/sessions', body);
  const stepUp = (client: ApiClient, code: string): Promise<Answer<{ provenUntil: string }>> =>
    client.post('/auth/step-up', { code });
  const toReview = async ({ client }: Colleague): Promise<string[]> =>
    (await client.expect(200, client.get<AccessRequest[]>('/access-requests?view=review'))).map(
      ({ id }) => id,
    );

  beforeAll(async () => {
    member = await colleague(org);
    await asks(org, { approvals: 1, mayBreakGlass: true });
    const { secret } = await member.client.posted<{ secret: string }>('/mfa/setup');
    const confirmed = await member.client.posted<{ recoveryCodes: string[] }>('/mfa/setup/confirm', {
      code: totpOf(secret).generate(),
    });
    codes = confirmed.recoveryCodes;
  });

  it('is refused without what it needs, and says what that is', async () => {
    const key = await org.admin.created<{ plainTextKey: string }>('/api-keys', {
      name: 'of the member',
      scopes: ['sessions:write'],
      userId: member.id,
    });
    const refused = [
      await start({ ...GLASS, reason: null }),
      await start({ ...GLASS, durationHours: 2 }),
      await start(GLASS, drawbridge.api.as({ apiKey: key.plainTextKey })),
      await start(GLASS),
    ];
    expect(refused.map(({ status, body }) => [status, body.message])).toEqual([
      [400, expect.stringContaining('reason is required')],
      [400, expect.stringContaining('at most 1')],
      [403, expect.stringContaining('signed-in person')],
      [403, expect.stringContaining('POST /auth/step-up')],
    ]);
    expect((await stepUp(member.client, 'wrong')).status).toBe(400);
    expect((await start(GLASS)).status).toBe(403);
  });

  it.each(['review', 'all'])('the requests of others are shown to administrators only: %s', async (view) => {
    const other = await colleague(org);
    expect((await other.client.get(`/access-requests?view=${view}`)).status).toBe(403);
    await org.admin.expect(200, org.admin.get(`/access-requests?view=${view}`));
  });

  it('starts after a code, is told, and is listed until another administrator reviews it', async () => {
    const receiver = await WebhookReceiver.start();
    await webhook(org, receiver.url('/'), { eventTypes: ['BREAK_GLASS_STARTED'] });
    const other = await administrator(org);
    await member.client.expect(200, stepUp(member.client, codes[0]!));
    const session = await member.client.expect(200, start(GLASS));
    expect(session).toMatchObject({ breakGlass: true, approvers: [], reason: REASON });
    expect(Date.parse(session.expiresAt) - Date.parse(session.startedAt)).toBe(3_600_000);
    await receiver.atLeast(1, '/');
    await receiver.stop();
    const id = (session as unknown as { accessRequestId: string }).accessRequestId;
    expect(await toReview(other)).toEqual([id]);
    const extended = await member.client.post(`/sessions/${session.id}/extend`, { additionalHours: 1 });
    expect(extended.status).toBe(403);
    await drawbridge.query('UPDATE users SET is_org_admin = true WHERE id = $1', [member.id]);
    expect((await member.client.post(`/access-requests/${id}/review`)).status).toBe(403);
    expect(await toReview(member)).toEqual([]);
    await other.client.expect(200, other.client.post(`/access-requests/${id}/review`, { note: 'Right' }));
    expect(await toReview(other)).toEqual([]);
    expect(await readRequest(member.client, id)).toMatchObject({
      status: 'USED',
      decisions: [{ userEmail: other.email, decision: 'REVIEWED', note: 'Right' }],
    });
    const [record] = await auditRecords(org.admin, `?resourceId=${id}&eventType=BREAK_GLASS_STARTED`);
    expect(record!.details).toMatchObject({ sessionId: session.id, reason: REASON });
  });

  it('a code counts for five minutes, where a role allows it', async () => {
    const elsewhere = { ...GLASS, ipv4Address: '198.51.100.2' };
    await member.client.expect(200, stepUp(member.client, codes[1]!));
    await drawbridge.query(
      `UPDATE refresh_tokens SET stepped_up_at = now() - interval '5 minutes' WHERE user_id = $1`,
      [member.id],
    );
    expect((await start(elsewhere)).status).toBe(403);
    await member.client.expect(200, stepUp(member.client, codes[2]!));
    await asks(org, { mayBreakGlass: false });
    expect((await start(elsewhere)).body.message).toContain('allows breakGlass');
  });
});
