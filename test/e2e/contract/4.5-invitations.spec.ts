import { randomUUID } from 'node:crypto';
import {
  accountCalls,
  AccountOwner,
  accountOwner,
  mailedLinks,
  type ApiFailure,
  type Login,
} from '../../builders/accounts/accounts';
import type { User } from '../../builders/contract/answers';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const PASSWORD = 'My first 1 here';
const someText = expect.any(String) as string;
const address = (): string => `${randomUUID()}@example.com`;

describe('4.5 Users: invitations, and MFA that was reset', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let owner: AccountOwner;

  beforeAll(async () => {
    owner = await accountOwner(drawbridge);
    await owner.organizationSets('subscription_tier', 'PAID');
  });

  const { post } = accountCalls(() => drawbridge);
  const invited = (email = address(), by = owner): Promise<User> =>
    by.client.created<User>('/users', { email });
  const resend = ({ id }: User, by = owner): Promise<Answer<User>> =>
    by.client.post<User>(`/users/${id}/resend-invitation`);
  const read = ({ id }: User): Promise<User> =>
    owner.client.expect(200, owner.client.get<User>(`/users/${id}`));
  const tokenOf = ({ invitationUrl }: User): string => invitationUrl!.split('/').at(-1)!;
  const accept = (inviteToken: string, given: object = {}): Promise<Answer<Login & ApiFailure>> =>
    post('set-password', { inviteToken, password: PASSWORD, ...given });

  describe('POST /auth/set-password', () => {
    it('leads from the invitation to signing in', async () => {
      const user = await invited();
      const account = { email: user.email, password: PASSWORD };
      expect((await post('login', account)).status).toBe(401);
      const accepted = await accept(tokenOf(user), { name: 'Grace Hopper' });
      expect(accepted).toMatchObject({
        status: 200,
        body: { accessToken: someText, refreshToken: someText, user: { id: user.id, isOrgAdmin: false } },
      });
      expect((await post('login', account)).body.user).toMatchObject({
        id: user.id,
        organizationId: owner.organizationId,
        name: 'Grace Hopper',
      });
      expect(await read(user)).toMatchObject({ name: 'Grace Hopper', lastLoginAt: someText });
    });

    it('takes an invitation once; a bad, a used and an expired one are 400', async () => {
      const [used, late] = [await invited(), await invited()];
      expect((await accept(tokenOf(used))).status).toBe(200);
      expect((await accept(tokenOf(used))).status).toBe(400);
      expect((await accept('nonsense')).body.validationErrors).toEqual({ inviteToken: someText });
      await drawbridge.query(
        `UPDATE account_tokens SET expires_at = expires_at - interval '7 days' WHERE user_id = $1`,
        [late.id],
      );
      expect((await accept(tokenOf(late))).status).toBe(400);
    });

    it.each([
      ['deactivated', ({ id }: User) => owner.client.patch(`/users/${id}`, { isActive: false })],
      ['deleted', ({ id }: User) => owner.client.delete(`/users/${id}`)],
    ])('refuses with 400 the invitation of a user who was %s since', async (_, end) => {
      const user = await invited();
      expect((await end(user)).status).toBeLessThan(300);
      expect((await accept(tokenOf(user))).status).toBe(400);
    });

    it('takes no invitation for a password reset', async () => {
      const token = tokenOf(await invited());
      expect((await post('reset-password', { token, newPassword: PASSWORD })).status).toBe(400);
    });
  });

  describe('POST /users/{id}/resend-invitation', () => {
    it('answers 200 with the user and a new link, which is mailed; the earlier one works no more', async () => {
      const first = await invited();
      const { status, body } = await resend(first);
      expect(status).toBe(200);
      expect(body).toMatchObject({ id: first.id, email: first.email, status: 'INVITED' });
      expect(Date.parse(body.invitedAt!)).toBeGreaterThan(Date.parse(first.invitedAt!));
      const links = await until('both mails', async () => {
        const mails = mailedLinks(drawbridge, first.email);
        return mails.length === 2 && mails;
      });
      expect(links).toEqual([first.invitationUrl, body.invitationUrl]);
      expect((await accept(tokenOf(first))).status).toBe(400);
      expect((await accept(tokenOf(body))).status).toBe(200);
      expect(await owner.audited('INVITATION_SENT')).toMatchObject([{ result: 'SUCCESS' }]);
    });

    it('refuses with 400 when the invitation was accepted, or the user is not active', async () => {
      const accepted = await invited();
      await accept(tokenOf(accepted));
      expect((await resend(accepted)).status).toBe(400);
      const inactive = await invited();
      await owner.client.patch(`/users/${inactive.id}`, { isActive: false });
      expect((await resend(inactive)).status).toBe(400);
    });

    it('of an invitation that is sent again and accepted at once, one counts', async () => {
      const user = await invited();
      const answers = await Promise.all([resend(user), accept(tokenOf(user))]);
      const statuses = answers.map(({ status }) => status);
      expect([
        [200, 400],
        [400, 200],
      ]).toContainEqual(statuses);
    });
  });

  it('an organization sends twenty a day without a paid plan', async () => {
    const free = await accountOwner(drawbridge);
    for (let count = 0; count < 20; count += 1) {
      const { id } = await invited(address(), free);
      await free.client.expect(204, free.client.delete(`/users/${id}`));
    }
    const refused = await free.client.post<ApiFailure>('/users', { email: address() });
    expect([refused.status, refused.body.message]).toEqual([
      429,
      expect.stringContaining('20 invitations were sent'),
    ]);
    expect((await free.client.post('/users', { email: address(), password: PASSWORD })).status).toBe(201);
    await free.organizationSets('subscription_tier', 'PAID');
    await invited(address(), free);
  });

  describe('at most three a day go to one e-mail address', () => {
    it('of all organizations together, then 429 with Retry-After, and no user is added', async () => {
      const email = address();
      const others = await Promise.all([1, 2, 3].map(() => accountOwner(drawbridge)));
      const first = await invited(email);
      await owner.client.expect(200, resend(first));
      await invited(email, others[0]);
      const refused = await others[1]!.client.post<ApiFailure>('/users', { email });
      expect(refused).toMatchObject({ status: 429, body: { error: 'Too Many Requests' } });
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(86_000);
      expect((await resend(first)).status).toBe(429);
      const { body } = await others[1]!.client.get<User[]>(`/users?search=${email}`);
      expect(body).toEqual([]);
      const given = { email, password: PASSWORD };
      expect((await others[2]!.client.post('/users', given)).status).toBe(201);
      await drawbridge.query(
        `UPDATE account_tokens SET created_at = created_at - interval '1 day' WHERE user_id = $1`,
        [first.id],
      );
      expect((await resend(first)).status).toBe(200);
    });

    it('of one mailbox, however it is written', async () => {
      const name = randomUUID().replaceAll('-', '');
      for (const written of [name, `${name}+1`, `${name.slice(0, 4)}.${name.slice(4)}`])
        await invited(`${written}@example.com`);
      const other = await owner.client.post('/users', { email: `x${name}+2@example.com` });
      expect(other.status).toBe(201);
      expect((await owner.client.post('/users', { email: `${name}+2@example.com` })).status).toBe(429);
    });

    it('also of ten at once', async () => {
      const user = await invited();
      const answers = await Promise.all(Array.from({ length: 10 }, () => resend(user)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(8);
    });
  });

  describe('status and invitedAt', () => {
    it('contain the status (invited, active, inactive, locked), and the list filters by it', async () => {
      const search = `${randomUUID().slice(0, 8)}.example.com`;
      const named = (name: string): string => `${name}@${search}`;
      const waiting = await invited(named('waiting'));
      const active = await invited(named('active'));
      await accept(tokenOf(active));
      const inactive = await invited(named('inactive'));
      await owner.client.patch(`/users/${inactive.id}`, { isActive: false });
      const given = { email: named('locked'), password: PASSWORD };
      const locked = await owner.client.created<User>('/users', given);
      const organizationSlug = owner.first.user.organizationSlug;
      await Promise.all(
        Array.from({ length: 10 }, () => post('login', { ...given, organizationSlug, password: 'wrong' })),
      );
      const expected = { INVITED: waiting, ACTIVE: active, INACTIVE: inactive, LOCKED: locked };
      for (const [status, user] of Object.entries(expected)) {
        expect(await read(user)).toMatchObject({ status });
        const list = await owner.client.get<User[]>(`/users?search=${search}&status=${status}`);
        expect(list.body.map(({ id }) => id)).toEqual([user.id]);
        expect(list.headers.get('X-Total-Count')).toBe('1');
      }
      const both = await owner.client.get<User[]>(`/users?search=${search}&status=ACTIVE&status=LOCKED`);
      expect(both.body).toHaveLength(2);
      expect((await read(locked)).invitedAt).toBeNull();
      expect((await read(active)).invitedAt).toBe(active.invitedAt);
    });

    it('another status is 400', async () => {
      expect(await owner.client.get<ApiFailure>('/users?status=AWAY')).toMatchObject({
        status: 400,
        body: { validationErrors: { status: 'must be one of INVITED, ACTIVE, INACTIVE, LOCKED' } },
      });
    });
  });

  it('names in a mail are short, of one line, and nothing that a mail program makes a link of', async () => {
    const sender = await accountOwner(drawbridge);
    // a name of before: today it is refused
    await drawbridge.query('UPDATE organizations SET name = $1 WHERE id = $2', [
      'Prizes at https://evil.example/win\u202E\n\nwww.evil.example',
      sender.organizationId,
    ]);
    const email = address();
    const name = `Claim http://evil.example now at evil。example ${'x'.repeat(100)}`;
    await sender.client.created('/users', { email, name });
    const line = await until('the mail', async () =>
      drawbridge.apiServer.output
        .split('\n')
        .find((one) => one.includes('"context":"Mail"') && one.includes(email)),
    );
    const { subject, text } = JSON.parse(line) as { subject: string; text: string };
    const words = `${subject}\n${text}`.replaceAll(/http:\/\/localhost\S*|\S+@example\.com/g, '');
    expect(words).not.toMatch(/\w\.\w|。\w|:\/\/|\u202E/);
    expect(text).toMatch(/^Hello Claim http evil\. example now at evil。 example x+…,$/m);
  });

  it('an e-mail with invisible characters is refused, naming the field', async () => {
    for (const character of ['\u202E', '\u200B', '\u00AD', '\uFEFF', '\u2066', '\u3164', '\u2800']) {
      const email = `ada${character}lovelace@example.com`;
      const added = await owner.client.post<ApiFailure>('/users', { email });
      expect(added).toMatchObject({ status: 400, body: { validationErrors: { email: someText } } });
      const account = { organizationName: 'Example', email, password: PASSWORD };
      const registered = await post<ApiFailure>('register', account);
      expect(registered).toMatchObject({
        status: 400,
        body: { validationErrors: { email: someText } },
      });
    }
  });

  describe('MFA that was reset', () => {
    /** An invited user who has come in, and turned MFA on. */
    const withMfa = async (by = owner): Promise<AccountOwner> => {
      const user = await invited(address(), by);
      const first = await drawbridge.api.expect(200, accept(tokenOf(user)));
      const own = new AccountOwner(drawbridge, user.email, PASSWORD, first);
      await own.turnMfaOn();
      return own;
    };

    it('is no longer required: the password alone signs in, and a challenge from before is worth nothing', async () => {
      const user = await withMfa();
      const before = await user.loggedIn();
      expect(before).toMatchObject({ mfaRequired: true, accessToken: null });
      const codes = [user.code(), user.recoveryCodes[0]!];
      await owner.client.posted(`/users/${user.id}/reset-mfa`);
      for (const code of codes) expect((await user.verify(before.mfaChallengeToken, code)).status).toBe(401);
      expect(await user.loggedIn()).toMatchObject({
        mfaRequired: false,
        mfaSetupRequired: false,
        accessToken: someText,
        user: { mfaEnabled: false },
      });
    });

    it('has to be set up again where the organization requires it, as whoever accepts an invitation there must', async () => {
      const strict = await accountOwner(drawbridge);
      const user = await withMfa(strict);
      await strict.client.expect(200, strict.client.patch('/organization/settings', { mfaRequired: true }));
      const another = await accept(tokenOf(await invited(address(), strict)));
      expect(another.body.mfaSetupRequired).toBe(true);
      await strict.client.posted(`/users/${user.id}/reset-mfa`);
      const again = await user.loggedIn();
      expect(again).toMatchObject({ mfaRequired: false, mfaSetupRequired: true, accessToken: someText });
      const limited = user.as(again);
      expect((await limited.get('/sessions')).status).toBe(403);
      await user.turnMfaOn(limited);
      const signedIn = await user.verify(await user.challenge(), user.code());
      expect((await user.as(signedIn.body).get('/sessions')).status).toBe(200);
    });
  });
});
