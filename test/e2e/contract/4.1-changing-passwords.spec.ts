import {
  accountCalls,
  accountOwner,
  ownerWithMfa,
  type AccountOwner,
  type ApiFailure,
  type Login,
} from '../../builders/accounts/accounts';
import { Drawbridge } from '../../harness/product/drawbridge';

const text = expect.any(String) as string;

describe('4.1 Accounts and tokens: changing passwords', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const { post, refresh } = accountCalls(() => drawbridge);

  describe('POST /auth/change-password', () => {
    const change = (owner: AccountOwner, newPassword: string, currentPassword = owner.password) =>
      owner.client.post<ApiFailure>('/auth/change-password', { currentPassword, newPassword });

    it('changes the password: 200 {}, the old one no longer signs in', async () => {
      const owner = await accountOwner(drawbridge);
      expect(await change(owner, 'Another 1 entirely')).toMatchObject({ status: 200, body: {} });
      expect((await owner.login()).status).toBe(401);
      expect((await owner.login({ password: 'Another 1 entirely' })).status).toBe(200);
      expect(await owner.audited('PASSWORD_CHANGED')).toMatchObject([{ result: 'SUCCESS' }]);
    });

    it('ends the user’s other refresh tokens, not the one of this sign-in', async () => {
      const owner = await accountOwner(drawbridge);
      const other = await owner.loggedIn();
      await change(owner, 'Another 1 entirely');
      expect((await refresh(other)).status).toBe(401);
      expect((await refresh(owner.first)).status).toBe(200);
    });

    it('of many changes at once one is made', async () => {
      const owner = await accountOwner(drawbridge);
      const desired = Array.from({ length: 3 }, (_, index) => `Another ${index} entirely`);
      const answers = await Promise.all(desired.map((password) => change(owner, password)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(await owner.audited('PASSWORD_CHANGED')).toContainEqual(
        expect.objectContaining({ result: 'SUCCESS' }),
      );
    });

    it('refuses a wrong current password with 400, records it, and answers 429 to guessing', async () => {
      const owner = await accountOwner(drawbridge);
      expect(await change(owner, 'Another 1 entirely', 'wrong')).toMatchObject({
        status: 400,
        body: { validationErrors: { currentPassword: text } },
      });
      expect(await owner.audited('PASSWORD_CHANGED')).toMatchObject([{ result: 'FAILURE' }]);
      let last = 0;
      for (let tries = 0; tries < 12 && last !== 429; tries += 1) {
        last = (await change(owner, 'Another 1 entirely', 'wrong')).status;
      }
      expect(last).toBe(429);
    });

    it('refuses the password there is with 400', async () => {
      const owner = await accountOwner(drawbridge);
      expect((await change(owner, owner.password)).body.validationErrors).toEqual({ newPassword: text });
    });
  });

  describe('an expired password', () => {
    const expired = async (): Promise<AccountOwner> => {
      const owner = await accountOwner(drawbridge);
      await owner.organizationSets('password_expiration_days', 30);
      await drawbridge.query(
        `UPDATE users SET password_changed_at = now() - interval '30 days' WHERE id = $1`,
        [owner.id],
      );
      return owner;
    };
    const change = (passwordChangeToken: string | null, newPassword = 'A fresh 1 this time') =>
      post<Login & ApiFailure>('change-expired-password', { passwordChangeToken, newPassword });

    it('gets passwordExpired and no tokens; one day before it still signs in', async () => {
      const owner = await expired();
      expect(await owner.loggedIn()).toMatchObject({
        passwordExpired: true,
        mfaRequired: false,
        accessToken: null,
        refreshToken: null,
        user: null,
      });
      await drawbridge.query(
        `UPDATE users SET password_changed_at = now() - interval '29 days' WHERE id = $1`,
        [owner.id],
      );
      expect((await owner.loggedIn()).passwordExpired).toBe(false);
    });

    it('refreshes no sign-in: 401, without reuse detection when repeated', async () => {
      const owner = await expired();
      expect((await refresh(owner.first)).status).toBe(401);
      expect((await refresh(owner.first)).status).toBe(401);
      expect(await owner.audited('TOKEN_REUSED')).toEqual([]);
      await owner.organizationSets('password_expiration_days', null);
      expect((await refresh(owner.first)).status).toBe(200);
    });

    it('POST /auth/change-expired-password sets a new one and signs in', async () => {
      const owner = await expired();
      const { passwordChangeToken } = await owner.loggedIn();
      const answer = await change(passwordChangeToken);
      expect(answer).toMatchObject({ status: 200, body: { passwordExpired: false, tokenType: 'Bearer' } });
      expect((await owner.as(answer.body).get('/sessions')).status).toBe(200);
      expect((await owner.login({ password: 'A fresh 1 this time' })).body.passwordExpired).toBe(false);
      expect((await refresh(owner.first)).status).toBe(401);
    });

    it('the token works once, also with five concurrent requests', async () => {
      const { passwordChangeToken } = await (await expired()).loggedIn();
      const answers = await Promise.all(
        [1, 2, 3, 4, 5].map((n) => change(passwordChangeToken, `A fresh 1 ${n}`)),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        200, 400, 400, 400, 400,
      ]);
    });

    it('the policy binds, the expired password is refused, and the token then still works', async () => {
      const owner = await expired();
      const { passwordChangeToken } = await owner.loggedIn();
      for (const bad of ['short', owner.password]) {
        expect(await change(passwordChangeToken, bad)).toMatchObject({
          status: 400,
          body: { validationErrors: { newPassword: text } },
        });
      }
      expect((await change(passwordChangeToken)).status).toBe(200);
    });

    it('no other token does: an access token, an MFA challenge, nonsense: 400', async () => {
      const owner = await expired();
      const other = await ownerWithMfa(drawbridge);
      for (const bad of [owner.first.accessToken, await other.challenge(), 'nonsense'])
        expect((await change(bad)).status).toBe(400);
      const token = (await owner.loggedIn()).passwordChangeToken!;
      expect((await drawbridge.api.as({ token }).get('/sessions')).status).toBe(401);
    });

    it('with MFA the second factor is checked first, and only once', async () => {
      const owner = await expired();
      await owner.turnMfaOn();
      const login = await owner.loggedIn();
      expect(login).toMatchObject({ mfaRequired: true, passwordExpired: false, passwordChangeToken: null });
      const verified = await owner.verify(login.mfaChallengeToken, owner.code());
      expect(verified).toMatchObject({ status: 200, body: { passwordExpired: true, accessToken: null } });
      const answer = await change(verified.body.passwordChangeToken);
      expect(answer).toMatchObject({ status: 200, body: { mfaRequired: false, accessToken: text } });
    });
  });
});
