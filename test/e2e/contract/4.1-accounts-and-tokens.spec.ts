import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  accountOwner,
  mailedLinks,
  mailedToken,
  type AccountOwner,
  type ApiFailure,
  type Login,
} from '../../builders/accounts';
import type { Answer } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';
import { until } from '../../harness/until';

const text = expect.any(String) as string;
const LOGIN_FIELDS = [
  'accessToken',
  'expiresIn',
  'mfaChallengeExpiresIn',
  'mfaChallengeToken',
  'mfaRequired',
  'mfaSetupRequired',
  'passwordChangeToken',
  'passwordExpired',
  'refreshToken',
  'tokenType',
  'user',
];
const USER_FIELDS = [
  'email',
  'id',
  'isOrgAdmin',
  'mfaEnabled',
  'name',
  'organizationId',
  'organizationName',
  'organizationSlug',
  'subscriptionTier',
];
const fieldsOf = (body: object): string[] => Object.keys(body).toSorted();
const address = (): string => `${randomUUID()}@example.com`;

describe('4.1 Accounts and tokens', () => {
  let drawbridge: Drawbridge;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({ worker: false });
  });
  afterAll(() => drawbridge.stop());

  const post = <T = Login>(path: string, body: object): Promise<Answer<T>> =>
    drawbridge.api.post<T>(`/auth/${path}`, body);
  const refresh = ({ refreshToken }: Pick<Login, 'refreshToken'>): Promise<Answer<Login>> =>
    post('refresh', { refreshToken });

  describe('POST /auth/register', () => {
    const given = (): Record<string, unknown> => ({
      organizationName: 'Example Ltd',
      email: address(),
      password: 'longer than eight',
    });

    it('creates an organization and its admin and signs the admin in: 201 with the login answer', async () => {
      const { status, body } = await post('register', given());
      expect(status).toBe(201);
      expect(fieldsOf(body)).toEqual(LOGIN_FIELDS);
      expect(fieldsOf(body.user)).toEqual(USER_FIELDS);
      expect(body).toMatchObject({
        mfaRequired: false,
        mfaSetupRequired: false,
        passwordExpired: false,
        tokenType: 'Bearer',
        expiresIn: 900,
        user: {
          isOrgAdmin: true,
          subscriptionTier: 'FREE',
          organizationName: 'Example Ltd',
          mfaEnabled: false,
        },
      });
      const admin = drawbridge.api.as({ token: body.accessToken });
      expect((await admin.get('/roles')).status).toBe(200);
    });

    it('makes a slug from the name, another one when it is taken', async () => {
      const organizationName = `Ünïcode & Söhne ${randomUUID().slice(0, 8)}`;
      const first = await post('register', { ...given(), organizationName });
      const second = await post('register', { ...given(), organizationName });
      expect(first.body.user.organizationSlug).toMatch(/^unicode-sohne-[\da-f]{8}$/);
      expect(second.body.user.organizationSlug).toMatch(new RegExp(`^${first.body.user.organizationSlug}-`));
    });

    it('takes a name; without one it is the first part of the e-mail', async () => {
      const email = address();
      const unnamed = await post<{ user: { name: string } }>('register', { ...given(), email });
      expect(unnamed.body.user.name).toBe(email.split('@')[0]);
      const named = await post<{ user: { name: string } }>('register', { ...given(), name: ' Ada ' });
      expect(named.body.user.name).toBe('Ada');
    });

    it.each([
      ['organizationName', '   '],
      ['organizationName', undefined],
      ['organizationName', 7],
      ['email', 'nobody'],
      ['email', undefined],
      ['password', '1234567'],
      ['password', 'x'.repeat(129)],
      ['password', undefined],
      ['name', ''],
    ])('refuses %s %j with 400 and a message for that field', async (field, value) => {
      const { status, body } = await post<ApiFailure>('register', { ...given(), [field]: value });
      expect(status).toBe(400);
      expect(body.validationErrors).toEqual({ [field]: text });
    });

    it('names every field that is wrong', async () => {
      const { body } = await post<ApiFailure>('register', {});
      expect(fieldsOf(body.validationErrors!)).toEqual(['email', 'organizationName', 'password']);
    });

    it('checks of the password nothing but its length, 8 to 128', async () => {
      expect((await post('register', { ...given(), password: 'aaaaaaaa' })).status).toBe(201);
    });

    it('a password of 128 characters counts in full', async () => {
      const password = 'p'.repeat(128);
      const owner = await accountOwner(drawbridge, { password });
      expect((await owner.login({ password: `${'p'.repeat(127)}q` })).status).toBe(401);
      expect((await owner.login()).status).toBe(200);
    });
  });

  describe('POST /auth/login', () => {
    it('always answers one shape, with the user and tokens', async () => {
      const owner = await accountOwner(drawbridge);
      const { status, body } = await owner.login();
      expect(status).toBe(200);
      expect(fieldsOf(body)).toEqual(LOGIN_FIELDS);
      expect(fieldsOf(body.user)).toEqual(USER_FIELDS);
      expect((await owner.as(body).get('/sessions')).status).toBe(200);
    });

    it('trims the e-mail and compares it without case', async () => {
      const owner = await accountOwner(drawbridge);
      expect((await owner.login({ email: `  ${owner.email.toUpperCase()} ` })).status).toBe(200);
    });

    it('answers the same for an unknown e-mail, a wrong password and an inactive user', async () => {
      const owner = await accountOwner(drawbridge);
      const inactive = await accountOwner(drawbridge);
      await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [inactive.id]);
      const answers = [
        await owner.login<ApiFailure>({ email: address() }),
        await owner.login<ApiFailure>({ password: 'wrong' }),
        await inactive.login<ApiFailure>(),
      ];
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
      const bodies = answers.map(({ body }) => ({ ...body, timestamp: '' }));
      expect(bodies).toEqual([bodies[0], bodies[0], bodies[0]]);
    });

    it('takes as long for an unknown e-mail as for a wrong password', async () => {
      const owner = await accountOwner(drawbridge);
      const fastest = async (given: () => object): Promise<number> => {
        const times: number[] = [];
        for (let tries = 0; tries < 3; tries += 1) {
          const before = performance.now();
          await owner.login(given());
          times.push(performance.now() - before);
        }
        return Math.min(...times);
      };
      const wrong = await fastest(() => ({ password: 'wrong' }));
      const unknown = await fastest(() => ({ email: address() }));
      // without a comparison it would be a fiftieth
      expect(unknown).toBeGreaterThan(wrong / 3);
      expect(unknown).toBeLessThan(wrong * 3);
    });

    it('needs organizationSlug of who fits several organizations, and says so with 400', async () => {
      const [email, password] = [address(), randomUUID()];
      const first = await accountOwner(drawbridge, { email, password });
      const second = await accountOwner(drawbridge, { email, password });
      expect(await first.login<ApiFailure>()).toMatchObject({
        status: 400,
        body: { validationErrors: { organizationSlug: text } },
      });
      for (const owner of [first, second]) {
        const { organizationSlug, id } = owner.first.user;
        expect(await owner.login({ organizationSlug })).toMatchObject({
          status: 200,
          body: { user: { id } },
        });
      }
      expect((await first.login({ organizationSlug: 'elsewhere' })).status).toBe(401);
    });

    it('needs none of who has a password of their own in each', async () => {
      const email = address();
      const first = await accountOwner(drawbridge, { email });
      const second = await accountOwner(drawbridge, { email });
      expect(await first.login()).toMatchObject({ status: 200, body: { user: { id: first.id } } });
      expect(await second.login()).toMatchObject({ status: 200, body: { user: { id: second.id } } });
    });

    it('does not see deleted users', async () => {
      const owner = await accountOwner(drawbridge);
      await drawbridge.query('UPDATE users SET is_active = false, deleted_at = now() WHERE id = $1', [
        owner.id,
      ]);
      expect((await owner.login()).status).toBe(401);
      expect(await owner.audited('USER_LOGIN')).toEqual([]);
    });

    it('refuses a body without e-mail or password with 400 and a message for each', async () => {
      const { status, body } = await post<ApiFailure>('login', {});
      expect(status).toBe(400);
      expect(body).toMatchObject({
        error: 'Bad Request',
        path: '/api/v1/auth/login',
        validationErrors: { email: text, password: text },
      });
    });

    it('is on record, and so is a failure at a known account', async () => {
      const owner = await accountOwner(drawbridge);
      await owner.login();
      await owner.login({ password: 'wrong' });
      expect(await owner.audited('USER_LOGIN')).toEqual([
        { result: 'SUCCESS', actorEmail: owner.email, ipAddress: '127.0.0.1' },
        { result: 'FAILURE', actorEmail: owner.email, ipAddress: '127.0.0.1' },
      ]);
    });
  });

  describe('repeated failures', () => {
    const fail = async (email: string, times: number): Promise<number[]> => {
      const statuses: number[] = [];
      for (let tries = 0; tries < times; tries += 1) {
        statuses.push((await post('login', { email, password: 'wrong' })).status);
      }
      return statuses;
    };
    const lock = async (email: string): Promise<void> => {
      const burst = Array.from({ length: 10 }, () => post('login', { email, password: 'wrong' }));
      expect((await Promise.all(burst)).map(({ status }) => status)).toContain(429);
    };

    it('a few mistypings cost nothing', async () => {
      const owner = await accountOwner(drawbridge);
      expect(await fail(owner.email, 4)).toEqual([401, 401, 401, 401]);
      expect((await owner.login()).status).toBe(200);
    });

    it('then the account is refused for a while: 429 with Retry-After, even for the right password', async () => {
      const owner = await accountOwner(drawbridge);
      expect(await fail(owner.email, 9)).toEqual([401, 401, 401, 401, 401, 401, 401, 401, 429]);
      const refused = await owner.login<ApiFailure>();
      expect(refused).toMatchObject({ status: 429, body: { error: 'Too Many Requests' } });
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(await owner.audited('USER_LOCKED_OUT')).toMatchObject([{ result: 'FAILURE' }]);
    });

    it('whatever the spelling, the organization and the client address', async () => {
      const owner = await accountOwner(drawbridge);
      const spellings = [owner.email, owner.email.toUpperCase(), `  ${owner.email} `];
      let last = 0;
      for (let index = 0; index < 12 && last !== 429; index += 1) {
        const body = {
          email: spellings[index % 3],
          password: 'wrong',
          ...(index % 2 ? { organizationSlug: owner.first.user.organizationSlug } : {}),
        };
        const headers = { 'X-Forwarded-For': `203.0.113.${index}` };
        last = (await drawbridge.api.post('/auth/login', body, headers)).status;
      }
      expect(last).toBe(429);
      const elsewhere = { 'X-Forwarded-For': '198.51.100.9' };
      const { email, password } = owner;
      expect((await drawbridge.api.post('/auth/login', { email, password }, elsewhere)).status).toBe(429);
    });

    it('the same for an account that does not exist', async () => {
      await lock(address());
    });

    it('of fifty attempts at once no more are compared than of fifty in a row', async () => {
      const email = address();
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => post('login', { email, password: 'wrong' })),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(8);
      expect(statuses.filter((status) => status === 401 || status === 429)).toHaveLength(50);
    });

    it('another account is not touched', async () => {
      const owner = await accountOwner(drawbridge);
      await lock(address());
      expect((await owner.login()).status).toBe(200);
    });

    it('a success resets the count', async () => {
      const owner = await accountOwner(drawbridge);
      await fail(owner.email, 4);
      await owner.loggedIn();
      expect(await fail(owner.email, 4)).toEqual([401, 401, 401, 401]);
    });

    it('after a while the account may be tried again, and the next lock is longer', async () => {
      const owner = await accountOwner(drawbridge);
      await lock(owner.email);
      const pass = (): Promise<object[]> =>
        drawbridge.query('UPDATE sign_in_failures SET locked_until = now() WHERE account_key = $1', [
          owner.email,
        ]);
      await pass();
      expect(await fail(owner.email, 1)).toEqual([401]);
      const refused = await owner.login();
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
      await pass();
      expect((await owner.login()).status).toBe(200);
    });

    it('who is signed in is not refused by a lock: requests, refresh and a change of password go on', async () => {
      const owner = await accountOwner(drawbridge);
      await lock(owner.email);
      expect((await owner.client.get('/sessions')).status).toBe(200);
      expect((await refresh(owner.first)).status).toBe(200);
      const body = { currentPassword: owner.password, newPassword: `${owner.password}X` };
      expect((await owner.client.post('/auth/change-password', body)).status).toBe(200);
    });
  });

  describe('POST /auth/refresh', () => {
    it('exchanges a refresh token for a new pair and the user', async () => {
      const owner = await accountOwner(drawbridge);
      const { status, body } = await refresh(owner.first);
      expect(status).toBe(200);
      expect(fieldsOf(body)).toEqual(['accessToken', 'expiresIn', 'refreshToken', 'tokenType', 'user']);
      expect(fieldsOf(body.user)).toEqual(USER_FIELDS);
      expect(body.refreshToken).not.toBe(owner.first.refreshToken);
      expect((await owner.as(body).get('/sessions')).status).toBe(200);
    });

    it('stores tokens hashed only', async () => {
      const owner = await accountOwner(drawbridge);
      const [row] = await drawbridge.query<{ hash: string; all: string }>(
        'SELECT token_hash AS hash, row_to_json(t)::text AS all FROM refresh_tokens t WHERE user_id = $1',
        [owner.id],
      );
      expect(row!.hash).toBe(createHash('sha256').update(owner.first.refreshToken).digest('hex'));
      expect(row!.all).not.toContain(owner.first.refreshToken);
    });

    it('a used token that comes again ends its whole family, and that is on record', async () => {
      const owner = await accountOwner(drawbridge);
      const other = await owner.loggedIn();
      const second = (await refresh(owner.first)).body;
      const third = (await refresh(second)).body;
      expect((await refresh(owner.first)).status).toBe(401);
      expect((await refresh(third)).status).toBe(401);
      expect((await refresh(other)).status).toBe(200);
      expect(await owner.audited('TOKEN_REUSED')).toMatchObject([{ result: 'FAILURE' }]);
    });

    it('the one just replaced is forgiven for ten seconds', async () => {
      const owner = await accountOwner(drawbridge);
      await refresh(owner.first);
      const again = await refresh(owner.first);
      expect(again.status).toBe(200);
      expect((await refresh(again.body)).status).toBe(200);
    });

    it('and for no longer', async () => {
      const owner = await accountOwner(drawbridge);
      const next = (await refresh(owner.first)).body;
      await drawbridge.query(
        `UPDATE refresh_tokens SET used_at = used_at - interval '11 seconds' WHERE user_id = $1`,
        [owner.id],
      );
      expect((await refresh(owner.first)).status).toBe(401);
      expect((await refresh(next)).status).toBe(401);
    });

    it('of ten refreshes at once with one token each gets an answer it can go on with', async () => {
      const owner = await accountOwner(drawbridge);
      const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(owner.first)));
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    });

    it('after seven days a token is worth nothing', async () => {
      const owner = await accountOwner(drawbridge);
      const [row] = await drawbridge.query<{ days: number }>(
        `SELECT extract(epoch FROM expires_at - created_at)::float8 / 86400 AS days FROM refresh_tokens
         WHERE user_id = $1`,
        [owner.id],
      );
      expect(row!.days).toBeCloseTo(7);
      await drawbridge.query(
        `UPDATE refresh_tokens SET expires_at = expires_at - interval '7 days' WHERE user_id = $1`,
        [owner.id],
      );
      expect((await refresh(owner.first)).status).toBe(401);
    });

    it('is 401 for an unknown token and an access token, 400 without one', async () => {
      const owner = await accountOwner(drawbridge);
      expect((await refresh({ refreshToken: 'nobody' })).status).toBe(401);
      expect((await refresh({ refreshToken: owner.first.accessToken.slice(0, 200) })).status).toBe(401);
      const { status, body } = await post<ApiFailure>('refresh', {});
      expect({ status, errors: body.validationErrors }).toEqual({
        status: 400,
        errors: { refreshToken: text },
      });
    });

    it('is 401 for a deactivated user', async () => {
      const owner = await accountOwner(drawbridge);
      await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [owner.id]);
      expect((await refresh(owner.first)).status).toBe(401);
    });
  });

  describe('POST /auth/logout', () => {
    const logout = (refreshToken: string): Promise<Answer<object>> => post('logout', { refreshToken });

    it('ends the sign-in, answers 200 {} and is on record', async () => {
      const owner = await accountOwner(drawbridge);
      const next = (await refresh(owner.first)).body;
      expect(await logout(next.refreshToken)).toMatchObject({ status: 200, body: {} });
      expect((await refresh(next)).status).toBe(401);
      expect((await refresh(owner.first)).status).toBe(401);
      expect(await owner.audited('USER_LOGOUT')).toMatchObject([
        { result: 'SUCCESS', actorEmail: owner.email },
      ]);
    });

    it('leaves other sign-ins alone', async () => {
      const owner = await accountOwner(drawbridge);
      const other = await owner.loggedIn();
      await logout(owner.first.refreshToken);
      expect((await refresh(other)).status).toBe(200);
    });

    it('takes a token that is worth nothing already; 400 without one', async () => {
      expect(await logout('nobody')).toMatchObject({ status: 200, body: {} });
      expect((await post('logout', {})).status).toBe(400);
    });
  });

  describe('POST /auth/change-password', () => {
    const change = (owner: AccountOwner, newPassword: string, currentPassword = owner.password) =>
      owner.client.post<ApiFailure>('/auth/change-password', { currentPassword, newPassword });

    it('changes the password: 200 {}, the old one signs nobody in', async () => {
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

    it('refuses a wrong current password with 400, records it, and 429 who guesses', async () => {
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

    it.each([
      ['Short 1', '8 to 128'],
      [`Long 1 ${'x'.repeat(122)}`, '8 to 128'],
      ['no upper case 1', 'upper-case'],
      ['NO LOWER CASE 1', 'lower-case'],
      ['No digit at all', 'digit'],
    ])('the default policy refuses %s: 400 with validationErrors', async (password, words) => {
      const owner = await accountOwner(drawbridge);
      expect(await change(owner, password)).toMatchObject({
        status: 400,
        body: { validationErrors: { newPassword: expect.stringContaining(words) as string } },
      });
      expect((await owner.login()).status).toBe(200);
    });

    it('the organization’s own policy binds', async () => {
      const owner = await accountOwner(drawbridge);
      await owner.organizationSets('password_min_length', 20);
      await owner.organizationSets('password_require_special_char', true);
      const refused = await change(owner, 'Longer than 8');
      expect(refused.body.validationErrors).toEqual({
        newPassword: expect.stringMatching(/20 to 128.*special/) as string,
      });
      expect((await change(owner, 'Longer than 20, and with a comma')).status).toBe(200);
    });

    it('refuses the password there is with 400', async () => {
      const owner = await accountOwner(drawbridge);
      expect((await change(owner, owner.password)).body.validationErrors).toEqual({ newPassword: text });
    });

    it('is 401 without a token, 400 without the fields', async () => {
      const owner = await accountOwner(drawbridge);
      expect((await post('change-password', { currentPassword: 'a', newPassword: 'b' })).status).toBe(401);
      const { status, body } = await owner.client.post<ApiFailure>('/auth/change-password', {});
      expect(status).toBe(400);
      expect(fieldsOf(body.validationErrors!)).toEqual(['currentPassword', 'newPassword']);
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

    it('gets passwordExpired and a token to change it, no tokens', async () => {
      const login = await (await expired()).loggedIn();
      expect(login).toMatchObject({
        passwordExpired: true,
        passwordChangeToken: text,
        mfaRequired: false,
        accessToken: null,
        refreshToken: null,
        user: null,
      });
    });

    it('one day before it still signs in', async () => {
      const owner = await expired();
      await drawbridge.query(
        `UPDATE users SET password_changed_at = now() - interval '29 days' WHERE id = $1`,
        [owner.id],
      );
      expect((await owner.loggedIn()).passwordExpired).toBe(false);
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

    it('the token works once, also when it comes five times at once', async () => {
      const { passwordChangeToken } = await (await expired()).loggedIn();
      const answers = await Promise.all(
        [1, 2, 3, 4, 5].map((n) => change(passwordChangeToken, `A fresh 1 ${n}`)),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400]);
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
      const { mfaChallengeToken } = await (async () => {
        const other = await accountOwner(drawbridge);
        await other.turnMfaOn();
        return other.loggedIn();
      })();
      for (const bad of [owner.first.accessToken, mfaChallengeToken, 'nonsense']) {
        expect((await change(bad)).status).toBe(400);
      }
      expect(
        (
          await owner
            .as({ ...owner.first, accessToken: (await owner.loggedIn()).passwordChangeToken! })
            .get('/sessions')
        ).status,
      ).toBe(401);
    });

    it('with MFA the second factor comes first, and is not asked for again', async () => {
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
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
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

    it('every organization that knows the e-mail sends a link of its own, or the one that is named', async () => {
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

    it('nobody’s inbox is filled: five links an hour', async () => {
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

    it('the name may be left out; before it nobody signs in', async () => {
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

  describe('GET /auth/me', () => {
    it('shows the user’s fields and the organization', async () => {
      const owner = await accountOwner(drawbridge);
      const { status, body } = await owner.client.get<{ organization: object; lastLoginAt: string }>(
        '/auth/me',
      );
      expect(status).toBe(200);
      expect(fieldsOf(body)).toEqual([
        'createdAt',
        'email',
        'id',
        'isActive',
        'isOrgAdmin',
        'lastLoginAt',
        'mfaEnabled',
        'name',
        'organization',
        'platformRole',
        'roleNames',
        'updatedAt',
      ]);
      expect(body).toMatchObject({
        id: owner.id,
        email: owner.email,
        isActive: true,
        mfaEnabled: false,
        platformRole: 'CUSTOMER',
        organization: {
          id: owner.organizationId,
          name: 'Example',
          subscriptionTier: 'FREE',
          suspended: false,
        },
      });
      expect(Date.parse(body.lastLoginAt)).toBeGreaterThan(Date.now() - 60_000);
    });

    it('is 401 without a token', async () => {
      expect((await drawbridge.api.get('/auth/me')).status).toBe(401);
    });
  });

  it('passwords and tokens are nowhere in the log or the audit trail', async () => {
    const owner = await accountOwner(drawbridge);
    const login = await owner.loggedIn();
    await refresh(login);
    const [dump] = await drawbridge.query<{ dump: string }>(
      'SELECT jsonb_agg(a)::text AS dump FROM audit_records a',
    );
    for (const secret of [owner.password, login.accessToken, login.refreshToken]) {
      expect(drawbridge.apiServer.output).not.toContain(secret);
      expect(dump!.dump).not.toContain(secret);
    }
  });
});
