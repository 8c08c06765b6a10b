import { randomUUID } from 'node:crypto';
import { AccountOwner, accountOwner, mailedToken, type Login } from '../../builders/accounts/accounts';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const text = expect.any(String) as string;
const SIMPLE = 'Simple 1 password';
const STRICT = 'Strict 1 password, with a comma';

describe('4.7 Organization settings: what they do', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const set = (owner: AccountOwner, settings: object): Promise<unknown> =>
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

  describe('mfaRequired', () => {
    it('requires users without MFA to set it up at the next login and ends no session before', async () => {
      const owner = await accountOwner(drawbridge);
      const user = await member(owner);
      await set(owner, { mfaRequired: true });
      expect((await user.client.get('/sessions')).status).toBe(200);
      for (const one of [owner, user]) {
        const login = await one.loggedIn();
        expect(login).toMatchObject({ mfaRequired: false, mfaSetupRequired: true, accessToken: text });
        expect((await one.as(login).get('/sessions')).status).toBe(403);
      }
    });

    it('changes nothing for users with MFA', async () => {
      const owner = await accountOwner(drawbridge);
      await owner.turnMfaOn();
      await set(owner, { mfaRequired: true });
      const login = await owner.loggedIn();
      expect(login).toMatchObject({ mfaRequired: true, mfaSetupRequired: false });
      const { body } = await owner.verify(login.mfaChallengeToken, owner.code());
      expect((await owner.as(body).get('/sessions')).status).toBe(200);
    });

    it('taken back, the next login is as before', async () => {
      const owner = await accountOwner(drawbridge);
      await set(owner, { mfaRequired: true });
      await set(owner, { mfaRequired: false });
      expect(await owner.loggedIn()).toMatchObject({ mfaSetupRequired: false });
    });
  });

  describe('the password policy', () => {
    it('accepts passwords that were set before it', async () => {
      const owner = await accountOwner(drawbridge);
      const user = await member(owner);
      await set(owner, { passwordMinLength: 25, passwordRequireSpecialChar: true });
      expect((await user.login()).body).toMatchObject({ passwordExpired: false, accessToken: text });
    });

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

    it('ends a password: login, change-expired-password, and the login answer that signs in', async () => {
      const owner = await accountOwner(drawbridge);
      await set(owner, { passwordExpirationDays: 10 });
      await passwordIs(owner, 9);
      expect(await owner.loggedIn()).toMatchObject({ passwordExpired: false, accessToken: text });
      await passwordIs(owner, 10);
      const { passwordChangeToken, ...login } = await owner.loggedIn();
      expect(login).toMatchObject({ passwordExpired: true, accessToken: null, refreshToken: null });
      const changed = await drawbridge.api.expect(
        200,
        post('change-expired-password', { passwordChangeToken, newPassword: STRICT }),
      );
      expect(changed).toMatchObject({
        passwordExpired: false,
        passwordChangeToken: null,
        accessToken: text,
        refreshToken: text,
        user: { id: owner.id },
      });
      expect((await owner.as(changed).get('/roles')).status).toBe(200);
      expect((await owner.login()).status).toBe(401);
      expect((await owner.login({ password: STRICT })).body).toMatchObject({ passwordExpired: false });
    });

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
});
