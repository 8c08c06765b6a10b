import { ownOrganization } from '../../builders/accounts/organization';
import type { Answer, ApiClient, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

type Refusal = Answer<{ message: string; validationErrors: Record<string, string> }>;

const drawbridge = Drawbridge.shared({ worker: false });
const org = ownOrganization(drawbridge);
let key: ApiClient;

beforeAll(async () => {
  key = await org.apiKey(['sessions:write']);
});
afterEach(async () => {
  const live = await org.admin.expect(200, org.admin.get<Session[]>('/sessions?active=true'));
  for (const { id } of live) await org.admin.posted(`/sessions/${id}/stop`);
});

const requiring = (isRequired: boolean): Promise<unknown> =>
  org.admin.expect(200, org.admin.patch('/organization/settings', { requireDetectedAddress: isRequired }));

describe('requireDetectedAddress', () => {
  it('is false in the beginning: any address may be given', async () => {
    const settings = await org.admin.get<{ requireDetectedAddress: boolean }>('/organization/settings');
    expect(settings.body.requireDetectedAddress).toBe(false);
    await org.started({ ipv4Address: '203.0.113.60' });
  });

  describe('when it is true', () => {
    beforeAll(() => requiring(true));
    afterAll(() => requiring(false));

    it('the settings show it, and the audit trail has the change', async () => {
      const settings = await org.admin.get<object>('/organization/settings');
      expect(settings.body).toMatchObject({ requireDetectedAddress: true });
      const [record] = await drawbridge.query<{ details: object }>(
        `SELECT details FROM audit_records WHERE organization_id = $1
           AND event_type = 'ORGANIZATION_SETTINGS_UPDATE' ORDER BY sequence DESC LIMIT 1`,
        [org.organizationId],
      );
      expect(record!.details).toMatchObject({
        changed: { requireDetectedAddress: expect.anything() as unknown },
      });
    });

    it.each([
      ['ipv4Address', { ipv4Address: '203.0.113.61' }],
      ['ipv6Address', { ipv6Address: '2001:db8::61' }],
      ['ipv6Address', { ipv4Address: '127.0.0.1', ipv6Address: '2001:db8::61' }],
    ])('another address than the caller’s is 400 and names %s', async (field, body) => {
      const { status, body: refusal }: Refusal = await org.admin.post('/sessions', body);
      expect([status, Object.keys(refusal.validationErrors)]).toEqual([400, [field]]);
      expect(refusal.message).toBe(
        `${field} must be 127.0.0.1, the address you call from, or be left out: your organization requires it`,
      );
    });

    it('so it is for what is asked of others, and for the start that follows', async () => {
      const wanted = { resourceIds: org.resourceIds, durationHours: 1, reason: 'INC-12' };
      const asked: Refusal = await org.admin.post('/access-requests', {
        ...wanted,
        ipv4Address: '203.0.113.61',
      });
      expect([asked.status, Object.keys(asked.body.validationErrors)]).toEqual([400, ['ipv4Address']]);
      const [approved] = await drawbridge.query<{ id: string }>(
        `INSERT INTO access_requests (organization_id, requester_id, resource_ids, duration_hours, reason, ipv4_address,
           approvals_needed, approvals, status, due_at)
         VALUES ($1, $2, $3, 1, 'INC-12', '203.0.113.61', 1, 1, 'APPROVED', now() + interval '1 hour') RETURNING id`,
        [org.organizationId, org.adminId, org.resourceIds],
      );
      const started: Refusal = await org.admin.post('/sessions', { accessRequestId: approved!.id });
      expect([started.status, Object.keys(started.body.validationErrors)]).toEqual([400, ['ipv4Address']]);
    });

    it('so it is for an API key, with an Idempotency-Key too', async () => {
      const body = { ipv4Address: '203.0.113.62' };
      expect((await key.post('/sessions', body)).status).toBe(400);
      const headers = { 'Idempotency-Key': 'detected' };
      expect((await key.send('POST', '/sessions', body, headers)).status).toBe(400);
    });

    it('the caller’s own address may be given, or left out', async () => {
      const given = await org.started({ ipv4Address: '127.0.0.1' });
      expect(given.ipv4Address).toBe('127.0.0.1');
      const detected = await org.started({ holder: 'second' });
      expect(detected.ipv4Address).toBe('127.0.0.1');
    });
  });

  it('must be true or false: 400', async () => {
    for (const requireDetectedAddress of ['true', 1, null]) {
      const answer: Refusal = await org.admin.patch('/organization/settings', { requireDetectedAddress });
      expect(answer.status).toBe(400);
    }
  });
});
