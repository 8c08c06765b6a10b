import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  accountOwner,
  mailedLinks,
  mailedToken,
  type AccountOwner,
  type ApiFailure,
  type Login,
  accountCalls,
} from '../../builders/accounts/accounts';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const text = expect.any(String) as string;
const address = (): string => `${randomUUID()}@example.com`;

describe('4.1 Accounts and tokens: resets and invitations', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const { post, refresh } = accountCalls(() => drawbridge);

  describe('POST /auth/forgot-password and /auth/reset-password', () => {
    const forgot = (email: string, given: object = {}): Promise<Answer<unknown>> =>
      post('forgot-password', { email, ...given });
    const reset = (token: string, newPassword = 'A fresh 1 this time') =>
      post<Login & ApiFailure>('reset-password', { token, newPassword });

    it('answers 204 whether the account exists, is inactive, or not', async () => {
      const owner = await accountOwner(drawbridge);
      const inactive = await accountOwner(drawbridge);
      await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [inactive.id]);
      for (const email of [owner.email, address(), inactive.email]) {
        expect(await forgot(email)).toMatchObject({ status: 204, body: null });
      }
      await mailedToken(drawbridge, owner.email);
      expect(mailedLinks(drawbridge, inactive.email)).toEqual([]);
      expect((await forgot('nonsense')).status).toBe(400);
    });

    it('mails a link that ends in the token; the token sets a new password and signs in', async () => {
      const owner = await accountOwner(drawbridge);
      await forgot(` ${owner.email.toUpperCase()}`);
      const token = await mailedToken(drawbridge, owner.email);
      const answer = await reset(token);
      expect(answer).toMatchObject({ status: 200, body: { tokenType: 'Bearer', user: { id: owner.id } } });
      expect((await owner.login()).status).toBe(401);
      expect((await owner.login({ password: 'A fresh 1 this time' })).status).toBe(200);
      expect((await refresh(owner.first)).status).toBe(401);
      expect(await owner.audited('PASSWORD_RESET_REQUESTED')).toHaveLength(1);
      expect(await owner.audited('PASSWORD_RESET')).toHaveLength(1);
    });

    it('a token works once and for an hour; a bad one is 400', async () => {
      const owner = await accountOwner(drawbridge);
      await forgot(owner.email);
      const first = await mailedToken(drawbridge, owner.email);
      const answers = await Promise.all([reset(first), reset(first), reset(first)]);
      expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '400', '400']);
      await forgot(owner.email);
      const second = await mailedToken(drawbridge, owner.email, 2);
      await drawbridge.query(
        `UPDATE account_tokens SET expires_at = expires_at - interval '1 hour' WHERE user_id = $1`,
        [owner.id],
      );
      expect((await reset(second)).status).toBe(400);
      expect(await reset('nonsense')).toMatchObject({
        status: 400,
        body: { validationErrors: { token: text } },
      });
    });

    it('the policy binds, and the token then still works', async () => {
      const owner = await accountOwner(drawbridge);
      await forgot(owner.email);
      const token = await mailedToken(drawbridge, owner.email);
      expect(await reset(token, 'no upper case 1')).toMatchObject({
        status: 400,
        body: { validationErrors: { newPassword: expect.stringContaining('upper-case') as string } },
      });
      expect((await reset(token)).status).toBe(200);
    });

    it('opens a locked account again', async () => {
      const owner = await accountOwner(drawbridge);
      await Promise.all(Array.from({ length: 10 }, () => owner.login({ password: 'wrong' })));
      expect((await owner.login()).status).toBe(429);
      await forgot(owner.email);
      await reset(await mailedToken(drawbridge, owner.email));
      expect((await owner.login({ password: 'A fresh 1 this time' })).status).toBe(200);
    });

    it('does not take the place of the second factor', async () => {
      const owner = await accountOwner(drawbridge);
      await owner.turnMfaOn();
      await forgot(owner.email);
      const answer = await reset(await mailedToken(drawbridge, owner.email));
      expect(answer).toMatchObject({ status: 200, body: { mfaRequired: true, accessToken: null } });
    });

    it('every organization with the e-mail sends its own link, or only the named one', async () => {
      const email = address();
      const first = await accountOwner(drawbridge, { email });
      const second = await accountOwner(drawbridge, { email });
      await forgot(email);
      await until('two mails', async () => mailedLinks(drawbridge, email).length === 2);
      await forgot(email, { organizationSlug: second.first.user.organizationSlug });
      const token = await mailedToken(drawbridge, email, 3);
      expect((await reset(token)).body.user.id).toBe(second.id);
      expect((await first.login()).status).toBe(200);
    });

    it('at most five links per hour are mailed', async () => {
      const owner = await accountOwner(drawbridge);
      const answers = await Promise.all(Array.from({ length: 12 }, () => forgot(owner.email)));
      expect(answers.every(({ status }) => status === 204)).toBe(true);
      await until('seven were not sent', async () => {
        const told = drawbridge.apiServer.output.split('\n').filter((line) => line.includes(owner.id));
        return told.filter((line) => line.includes('too many within an hour')).length === 7;
      });
      await mailedToken(drawbridge, owner.email, 5);
      expect(mailedLinks(drawbridge, owner.email)).toHaveLength(5);
    });
  });

  describe('POST /auth/set-password', () => {
    const invited = async (): Promise<{ owner: AccountOwner; email: string; inviteToken: string }> => {
      const owner = await accountOwner(drawbridge);
      const [email, inviteToken] = [address(), randomBytes(32).toString('base64url')];
      const [user] = await drawbridge.query<{ id: string }>(
        `INSERT INTO users (organization_id, email, name) VALUES ($1, $2, 'Invited') RETURNING id`,
        [owner.organizationId, email],
      );
      await drawbridge.query(
        `INSERT INTO account_tokens (organization_id, user_id, purpose, token_hash, expires_at)
         VALUES ($1, $2, 'INVITE', $3, now() + interval '7 days')`,
        [owner.organizationId, user!.id, createHash('sha256').update(inviteToken).digest('hex')],
      );
      return { owner, email, inviteToken };
    };
    const accept = (inviteToken: string, given: object = {}) =>
      post<Login & ApiFailure>('set-password', { inviteToken, password: 'My first 1 here', ...given });

    it('sets the first password and the name, and signs in', async () => {
      const { owner, email, inviteToken } = await invited();
      const answer = await accept(inviteToken, { name: 'Grace Hopper' });
      expect(answer).toMatchObject({
        status: 200,
        body: { tokenType: 'Bearer', user: { email, name: 'Grace Hopper', isOrgAdmin: false } },
      });
      expect((await owner.login({ email, password: 'My first 1 here' })).status).toBe(200);
      expect(await owner.audited('INVITATION_ACCEPTED')).toMatchObject([{ actorEmail: email }]);
    });

    it('the name is optional; the user cannot sign in before accepting', async () => {
      const { owner, email, inviteToken } = await invited();
      expect((await owner.login({ email, password: 'My first 1 here' })).status).toBe(401);
      expect(await accept(inviteToken)).toMatchObject({ status: 200, body: { user: { name: 'Invited' } } });
    });

    it('an invitation works once; a bad, a used and an expired one are 400', async () => {
      const { owner, inviteToken } = await invited();
      expect((await accept(inviteToken)).status).toBe(200);
      expect((await accept(inviteToken)).status).toBe(400);
      expect(await accept('nonsense')).toMatchObject({
        status: 400,
        body: { validationErrors: { inviteToken: text } },
      });
      const late = await invited();
      await drawbridge.query(
        `UPDATE account_tokens SET expires_at = expires_at - interval '7 days' WHERE organization_id = $1`,
        [late.owner.organizationId],
      );
      expect((await accept(late.inviteToken)).status).toBe(400);
      expect(owner.id).not.toBe(late.owner.id);
    });

    it('is no password reset, and a reset no invitation', async () => {
      const { inviteToken } = await invited();
      const answer = await post('reset-password', { token: inviteToken, newPassword: 'My first 1 here' });
      expect(answer.status).toBe(400);
    });

    it('the policy binds: 400 naming the field', async () => {
      const { inviteToken } = await invited();
      expect((await accept(inviteToken, { password: 'short' })).body.validationErrors).toEqual({
        password: text,
      });
      expect((await accept(inviteToken)).status).toBe(200);
    });

    it('where MFA is required it leads to setting it up', async () => {
      const { owner, inviteToken } = await invited();
      await owner.organizationSets('mfa_required', true);
      expect((await accept(inviteToken)).body.mfaSetupRequired).toBe(true);
    });
  });
});
