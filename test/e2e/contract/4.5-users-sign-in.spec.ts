import { randomUUID } from 'node:crypto';
import { AccountOwner, accountOwner, mailedToken, type Login } from '../../builders/accounts/accounts';
import { organization } from '../../builders/accounts/organization';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const PASSWORD = 'My first 1 here';
const text = expect.any(String) as string;

interface Invited {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly invitationUrl: string;
  readonly lastLoginAt: string | null;
}

describe('4.5 Users: from the invitation on', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const invite = (owner: Pick<AccountOwner, 'client'>, body: object = {}): Promise<Invited> =>
    owner.client.created<Invited>('/users', { email: `${randomUUID()}@example.com`, ...body });
  const tokenIn = ({ invitationUrl }: Invited): string => invitationUrl.split('/').at(-1)!;
  const accept = (inviteToken: string, given: object = {}): Promise<Answer<Login>> =>
    drawbridge.api.post<Login>('/auth/set-password', { inviteToken, password: PASSWORD, ...given });
  const login = (email: string, password = PASSWORD): Promise<Answer<Login>> =>
    drawbridge.api.post<Login>('/auth/login', { email, password });
  /** An invited user who has come in. */
  const member = async (owner: AccountOwner): Promise<AccountOwner> => {
    const invited = await invite(owner);
    const first = await drawbridge.api.expect(200, accept(tokenIn(invited)));
    return new AccountOwner(drawbridge, invited.email, PASSWORD, first);
  };

  describe('an invitation', () => {
    it('leads from POST /users through POST /auth/set-password to signing in', async () => {
      const owner = await accountOwner(drawbridge);
      const invited = await invite(owner);
      expect((await login(invited.email)).status).toBe(401);
      const accepted = await drawbridge.api.expect(200, accept(tokenIn(invited), { name: 'Grace Hopper' }));
      expect(accepted).toMatchObject({ accessToken: text, refreshToken: text, user: { id: invited.id } });
      expect(await drawbridge.api.expect(200, login(invited.email))).toMatchObject({
        user: { id: invited.id, organizationId: owner.organizationId, name: 'Grace Hopper' },
      });
      expect((await owner.client.get(`/users/${invited.id}`)).body).toMatchObject({
        name: 'Grace Hopper',
        lastLoginAt: text,
      });
    });

    it('that was mailed is the one in the admin’s answer', async () => {
      const invited = await invite(await accountOwner(drawbridge));
      expect(await mailedToken(drawbridge, invited.email)).toBe(tokenIn(invited));
    });

    it('includes the roles: the user can start a session at once', async () => {
      const org = await organization(drawbridge);
      const invited = await invite({ client: org.admin }, { roleIds: [org.roleId] });
      const { accessToken } = await drawbridge.api.expect(200, accept(tokenIn(invited)));
      const started = await drawbridge.api
        .as({ token: accessToken })
        .post('/sessions', { ipv4Address: '203.0.113.1' });
      expect(started).toMatchObject({ status: 200, body: { userId: invited.id, status: 'PENDING' } });
    });

    it.each([
      [
        'deactivated',
        (owner: AccountOwner, id: string) => owner.client.patch(`/users/${id}`, { isActive: false }),
      ],
      ['deleted', (owner: AccountOwner, id: string) => owner.client.delete(`/users/${id}`)],
    ])('of a user who was %s since is 400', async (_, end) => {
      const owner = await accountOwner(drawbridge);
      const invited = await invite(owner);
      expect((await end(owner, invited.id)).status).toBeLessThan(300);
      expect((await accept(tokenIn(invited))).status).toBe(400);
    });

    it('the organization’s policy binds the password it sets, and the invitation then still works', async () => {
      const owner = await accountOwner(drawbridge);
      const invited = await invite(owner);
      await owner.client.expect(200, owner.client.patch('/organization/settings', { passwordMinLength: 30 }));
      expect(await accept(tokenIn(invited))).toMatchObject({
        status: 400,
        body: { validationErrors: { password: expect.stringContaining('30') as string } },
      });
      const password = `Aa1 ${'x'.repeat(30)}`;
      expect((await accept(tokenIn(invited), { password })).status).toBe(200);
    });
  });

  it('an e-mail that differs from another user’s in case and blanks only is taken: 400', async () => {
    const owner = await accountOwner(drawbridge);
    const { email } = await invite(owner);
    for (const same of [` ${email.toUpperCase()} `, owner.email.toUpperCase()]) {
      expect(await owner.client.post('/users', { email: same })).toMatchObject({
        status: 400,
        body: { validationErrors: { email: text } },
      });
    }
  });

  it('a password of 128 characters that an admin gave counts in full', async () => {
    const owner = await accountOwner(drawbridge);
    const password = `Aa1${'x'.repeat(125)}`;
    const email = `${randomUUID()}@example.com`;
    await owner.client.created('/users', { email, password });
    expect((await login(email, `${password.slice(0, -1)}y`)).status).toBe(401);
    expect((await login(email, password)).status).toBe(200);
  });

  describe('MFA that was reset', () => {
    it('is no longer required: the password alone signs in', async () => {
      const owner = await accountOwner(drawbridge);
      const user = await member(owner);
      await user.turnMfaOn();
      expect(await user.loggedIn()).toMatchObject({ mfaRequired: true, accessToken: null });
      await owner.client.posted(`/users/${user.id}/reset-mfa`);
      expect(await user.loggedIn()).toMatchObject({
        mfaRequired: false,
        mfaSetupRequired: false,
        accessToken: text,
        user: { mfaEnabled: false },
      });
    });

    it('has to be set up again at the next login when the organization requires it', async () => {
      const owner = await accountOwner(drawbridge);
      const user = await member(owner);
      await user.turnMfaOn();
      await owner.client.expect(200, owner.client.patch('/organization/settings', { mfaRequired: true }));
      await owner.client.posted(`/users/${user.id}/reset-mfa`);
      const again = await user.loggedIn();
      expect(again).toMatchObject({ mfaRequired: false, mfaSetupRequired: true, accessToken: text });
      const limited = user.as(again);
      expect((await limited.get('/sessions')).status).toBe(403);
      await user.turnMfaOn(limited);
      const challenge = await user.loggedIn();
      const signedIn = await drawbridge.api.expect(
        200,
        user.verify(challenge.mfaChallengeToken, user.code()),
      );
      expect((await user.as(signedIn).get('/sessions')).status).toBe(200);
    });

    it('a challenge from before it is worth nothing', async () => {
      const owner = await accountOwner(drawbridge);
      const user = await member(owner);
      await user.turnMfaOn();
      const { mfaChallengeToken } = await user.loggedIn();
      const code = user.code();
      await owner.client.posted(`/users/${user.id}/reset-mfa`);
      expect((await user.verify(mfaChallengeToken, code)).status).toBe(401);
      expect((await user.verify(mfaChallengeToken, user.recoveryCodes[0]!)).status).toBe(401);
    });
  });
});
