import { randomUUID } from 'node:crypto';
import {
  AccountOwner,
  accountOwner,
  mailedToken,
  type ApiFailure,
  type Login,
} from '../../builders/accounts/accounts';
import { ownOrganization, sshTo } from '../../builders/accounts/organization';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const text = expect.any(String) as string;
const SIMPLE = 'Simple 1 password';
const STRICT = 'Strict 1 password, with a comma';

describe('4.7 Organization settings: what they do', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const set = (owner: Pick<AccountOwner, 'client'>, settings: object): Promise<unknown> =>
    owner.client.expect(200, owner.client.patch('/organization/settings', settings));
  const post = <T = Login>(path: string, body: object): Promise<Answer<T>> =>
    drawbridge.api.post<T>(`/auth/${path}`, body);
  /** A user of the owner's organization without admin rights. */
  const member = async (owner: AccountOwner): Promise<AccountOwner> => {
    const account = { email: `${randomUUID()}@example.com`, password: SIMPLE };
    await owner.client.created('/users', account);
    const first = await drawbridge.api.expect(200, post('login', account));
    return new AccountOwner(drawbridge, account.email, account.password, first);
  };

  describe('the password policy', () => {
    it('binds every way to set one afterwards: change, reset, invitation, and an admin’s', async () => {
      const owner = await accountOwner(drawbridge);
      const [user, forgetful] = [await member(owner), await member(owner)];
      await set(owner, { passwordMinLength: 25, passwordRequireSpecialChar: true });
      await post('forgot-password', { email: forgetful.email });
      const token = await mailedToken(drawbridge, forgetful.email);
      const email = (): string => `${randomUUID()}@example.com`;
      const invitation = owner.client.post<{ invitationUrl: string }>('/users', { email: email() });
      const inviteToken = (await invitation).body.invitationUrl.split('/').at(-1);
      const ways = {
        change: (newPassword: string) =>
          user.client.post('/auth/change-password', { currentPassword: SIMPLE, newPassword }),
        reset: (newPassword: string) => post<object>('reset-password', { token, newPassword }),
        invitation: (password: string) => post<object>('set-password', { inviteToken, password }),
        admin: (password: string) => owner.client.post('/users', { email: email(), password }),
      };
      for (const [way, sets] of Object.entries(ways)) {
        const refused = await sets('Short 1');
        expect([way, refused.status]).toEqual([way, 400]);
        expect(JSON.stringify(refused.body)).toMatch(/25 to 128.*special/);
        const taken = await sets(STRICT);
        expect([way, taken.status < 300]).toEqual([way, true]);
      }
    });

    it('does not apply to other organizations', async () => {
      const [strict, other] = [await accountOwner(drawbridge), await accountOwner(drawbridge)];
      await set(strict, { passwordMinLength: 128 });
      expect((await member(other)).first).toMatchObject({ accessToken: text });
    });
  });

  describe('passwordExpirationDays', () => {
    const passwordIs = (owner: AccountOwner, days: number): Promise<unknown> =>
      drawbridge.query(
        `UPDATE users SET password_changed_at = now() - make_interval(days => $2) WHERE id = $1`,
        [owner.id, days],
      );

    it('null: passwords never expire', async () => {
      const owner = await accountOwner(drawbridge);
      await passwordIs(owner, 4000);
      expect(await owner.loggedIn()).toMatchObject({ passwordExpired: false, accessToken: text });
      await set(owner, { passwordExpirationDays: 365 });
      expect(await owner.loggedIn()).toMatchObject({ passwordExpired: true, accessToken: null });
      await set(owner, { passwordExpirationDays: null });
      expect(await owner.loggedIn()).toMatchObject({ passwordExpired: false, accessToken: text });
    });
  });

  describe('requireDetectedAddress', () => {
    const org = ownOrganization(drawbridge);
    const start = (body: object): Promise<Answer<ApiFailure>> => org.admin.post('/sessions', body);

    beforeAll(() => set({ client: org.admin }, { requireDetectedAddress: true }));

    it.each([
      ['ipv4Address', { ipv4Address: '203.0.113.61' }],
      ['ipv6Address', { ipv6Address: '2001:db8::61' }],
      ['ipv6Address', { ipv4Address: '127.0.0.1', ipv6Address: '2001:db8::61' }],
    ])('another address than the caller’s is 400 and names %s', async (field, body) => {
      const { status, body: refusal } = await start(body);
      expect([status, Object.keys(refusal.validationErrors!)]).toEqual([400, [field]]);
      expect(refusal.message).toBe(
        `${field} must be 127.0.0.1, the address you call from, or be left out: your organization requires it`,
      );
    });

    it('so it is for what is asked of others, and for the start that follows', async () => {
      const asked = { resourceIds: org.resourceIds, durationHours: 1, reason: 'INC-12' };
      const request = { ...asked, ipv4Address: '203.0.113.61' };
      const refusal = { status: 400, body: { validationErrors: { ipv4Address: text } } };
      expect(await org.admin.post('/access-requests', request)).toMatchObject(refusal);
      const [approved] = await drawbridge.query<{ id: string }>(
        `INSERT INTO access_requests (organization_id, requester_id, resource_ids, duration_hours, reason, ipv4_address,
           approvals_needed, approvals, status, due_at)
         VALUES ($1, $2, $3, 1, 'INC-12', '203.0.113.61', 1, 1, 'APPROVED', now() + interval '1 hour') RETURNING id`,
        [org.organizationId, org.adminId, org.resourceIds],
      );
      expect(await start({ accessRequestId: approved!.id })).toMatchObject(refusal);
    });

    it('so it is for an API key, with an Idempotency-Key too', async () => {
      const key = await org.apiKey(['sessions:write']);
      for (const headers of [{}, { 'Idempotency-Key': 'detected' }])
        expect((await key.post('/sessions', { ipv4Address: '203.0.113.62' }, headers)).status).toBe(400);
    });

    it('the caller’s own address may be given, or left out', async () => {
      expect((await org.started({ ipv4Address: '127.0.0.1' })).ipv4Address).toBe('127.0.0.1');
      expect((await org.started({ holder: 'second' })).ipv4Address).toBe('127.0.0.1');
    });
  });

  describe('maxResourcesPerSession', () => {
    const org = ownOrganization(drawbridge, sshTo([0, 1, 2]));

    it('refuses a session, and its plan, that would open more, and lets one choose', async () => {
      await set({ client: org.admin }, { maxResourcesPerSession: 2 });
      const body = { ipv4Address: '203.0.113.5' };
      const message = expect.stringMatching(/3 resources, .* at most 2 in one session: name those/) as string;
      expect(await org.start(body)).toMatchObject({ status: 400, body: { message } });
      expect(await org.admin.posted('/sessions/plan', body)).toMatchObject({ refusal: { message } });
      await org.started({ ...body, resourceIds: org.resourceIds.slice(0, 2) });
    });
  });
});
