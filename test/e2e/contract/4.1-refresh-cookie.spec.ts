import { createHash, randomUUID } from 'node:crypto';
import {
  accountOwner,
  mailedToken,
  ownerWithMfa,
  type AccountOwner,
  type Login,
} from '../../builders/accounts/accounts';
import { ApiClient, type Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const IN_COOKIE = { refreshTokenIn: 'cookie' };
const FROM_CONSOLE = { 'X-Drawbridge-Console': '1', 'Sec-Fetch-Site': 'same-origin' };
const address = (): string => `${randomUUID()}@example.com`;
const PLAIN = /^drawbridge=([\w-]{43}); Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/;

describe('4.1 Accounts and tokens: the refresh token of a browser', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const post = (path: string, body?: object, headers = {}): Promise<Answer<Login>> =>
    drawbridge.api.post(`/auth/${path}`, body, headers);
  const cookieIn = ({ headers }: Answer<unknown>): string => headers.getSetCookie().join('\n');
  const tokenIn = (answer: Answer<Login>): string => {
    expect([answer.status, cookieIn(answer)]).toEqual([expect.any(Number), expect.stringMatching(PLAIN)]);
    expect(answer.body.refreshToken).toBeNull();
    return PLAIN.exec(cookieIn(answer))![1]!;
  };
  const loggedIn = async ({ email, password }: AccountOwner): Promise<string> =>
    tokenIn(await post('login', { email, password, ...IN_COOKIE }));
  const withCookie = (token: string, headers: object = FROM_CONSOLE): Record<string, string> => ({
    Cookie: `theme=dark; drawbridge=${token}`,
    ...headers,
  });

  /** What completes a sign-in, besides POST /auth/login. */
  const completing: Readonly<Record<string, () => Promise<object>>> = {
    register: async () => ({ organizationName: 'Example', email: address(), password: 'My first 1 here' }),
    'verify-mfa': async () => {
      const owner = await ownerWithMfa(drawbridge);
      return { mfaChallengeToken: await owner.challenge(), code: owner.recoveryCodes[0] };
    },
    'reset-password': async () => {
      const { email } = await accountOwner(drawbridge);
      await post('forgot-password', { email });
      return { token: await mailedToken(drawbridge, email), newPassword: 'A fresh 1 this time' };
    },
    'set-password': async () => {
      const { client } = await accountOwner(drawbridge);
      const { invitationUrl } = await client.created<{ invitationUrl: string }>('/users', {
        email: address(),
      });
      return { inviteToken: invitationUrl.split('/').at(-1), password: 'My first 1 here' };
    },
    'change-expired-password': async () => {
      const owner = await accountOwner(drawbridge);
      await owner.organizationSets('password_expiration_days', 1);
      await drawbridge.query(
        `UPDATE users SET password_changed_at = now() - interval '2 days' WHERE id = $1`,
        [owner.id],
      );
      const { passwordChangeToken } = await owner.loggedIn();
      return { passwordChangeToken, newPassword: 'A fresh 1 this time' };
    },
  };

  it.each(Object.keys(completing))(
    '%s puts it into the cookie when asked to, and refresh finds it there',
    async (path) => {
      const token = tokenIn(await post(path, { ...(await completing[path]!()), ...IN_COOKIE }));
      expect((await post('refresh', undefined, withCookie(token))).status).toBe(200);
    },
  );

  it('a sign-in that has another step sets none; one that asks for nothing, or for body, keeps to the body', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const { email, password } = owner;
    const answer = await post('login', { email, password, ...IN_COOKIE });
    expect([answer.body.mfaRequired, cookieIn(answer)]).toEqual([true, '']);
    const other = await accountOwner(drawbridge);
    const inBody = await post('login', {
      email: other.email,
      password: other.password,
      refreshTokenIn: 'body',
    });
    expect([typeof inBody.body.refreshToken, cookieIn(inBody)]).toEqual(['string', '']);
    const odd = await post('login', { email, password, refreshTokenIn: 'header' });
    expect(odd).toMatchObject({
      status: 400,
      body: { validationErrors: { refreshTokenIn: 'must be one of body, cookie' } },
    });
  });

  it('the server forgets it after 12 idle hours, as the browser does', async () => {
    const owner = await accountOwner(drawbridge);
    await loggedIn(owner);
    const [row] = await drawbridge.query<{ hours: number }>(
      `SELECT extract(epoch FROM expires_at - created_at)::float8 / 3600 AS hours FROM refresh_tokens
       WHERE user_id = $1 ORDER BY created_at DESC LIMIT 1`,
      [owner.id],
    );
    expect(row!.hours).toBeCloseTo(12);
  });

  it('a refresh from the cookie replaces it, and answers the access token alone', async () => {
    const owner = await accountOwner(drawbridge);
    const first = await loggedIn(owner);
    const answer = await post('refresh', {}, withCookie(first));
    const second = tokenIn(answer);
    expect(second).not.toBe(first);
    expect((await owner.as(answer.body).get('/auth/me')).status).toBe(200);
    expect((await post('refresh', undefined, withCookie(second))).status).toBe(200);
    expect((await post('refresh', undefined, withCookie(first))).status).toBe(401);
  });

  it('two tabs that refresh at once with one cookie both live', async () => {
    const owner = await accountOwner(drawbridge);
    const token = await loggedIn(owner);
    const tabs = await Promise.all([1, 2].map(() => post('refresh', undefined, withCookie(token))));
    for (const tab of tabs) {
      tokenIn(tab);
      expect((await owner.as(tab.body).get('/auth/me')).status).toBe(200);
    }
    // the browser keeps the cookie that was set last; the one whose turn came first may have begun last
    const [last] = await drawbridge.query<{ hash: string }>(
      `SELECT token_hash AS hash FROM refresh_tokens
       WHERE user_id = $1 AND used_at IS NULL AND superseded_at IS NULL ORDER BY created_at DESC LIMIT 1`,
      [owner.id],
    );
    const kept = tabs
      .map(tokenIn)
      .find((one) => createHash('sha256').update(one).digest('hex') === last!.hash);
    expect((await post('refresh', undefined, withCookie(kept!))).status).toBe(200);
  });

  it('a token is moved from the body into a cookie', async () => {
    const owner = await accountOwner(drawbridge);
    const { refreshToken } = owner.first;
    const moved = tokenIn(await post('refresh', { refreshToken, ...IN_COOKIE }));
    expect((await post('refresh', undefined, withCookie(moved))).status).toBe(200);
  });

  it('a token in the body counts, whatever the cookie is', async () => {
    const owner = await accountOwner(drawbridge);
    const { refreshToken } = owner.first;
    const answer = await post('refresh', { refreshToken }, withCookie('nonsense', {}));
    expect([answer.status, cookieIn(answer)]).toEqual([200, '']);
  });

  it('logout ends the sign-in of the cookie, and clears it', async () => {
    const owner = await accountOwner(drawbridge);
    const token = await loggedIn(owner);
    const out = await post('logout', undefined, withCookie(token));
    expect(out).toMatchObject({ status: 200, body: {} });
    expect(cookieIn(out)).toBe('drawbridge=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict');
    expect((await post('refresh', undefined, withCookie(token))).status).toBe(401);
  });

  it.each([
    ['without the header', { 'Sec-Fetch-Site': 'same-origin' }],
    ['from another site', { ...FROM_CONSOLE, 'Sec-Fetch-Site': 'cross-site' }],
    ['from another origin of the same site', { ...FROM_CONSOLE, 'Sec-Fetch-Site': 'same-site' }],
    [
      'from another origin, of an old browser',
      { 'X-Drawbridge-Console': '1', Origin: 'https://elsewhere.example.com' },
    ],
    ['from nowhere', { 'X-Drawbridge-Console': '1' }],
  ])('a cookie %s is refused, and still good afterwards', async (_, headers) => {
    const token = await loggedIn(await accountOwner(drawbridge));
    for (const path of ['refresh', 'logout'])
      expect(await post(path, undefined, withCookie(token, headers))).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('X-Drawbridge-Console: 1') as string },
      });
    expect((await post('refresh', undefined, withCookie(token))).status).toBe(200);
  });

  it('a browser that does not say where a request comes from is believed its Origin', async () => {
    const token = await loggedIn(await accountOwner(drawbridge));
    const headers = { 'X-Drawbridge-Console': '1', Origin: `http://localhost:${drawbridge.apiServer.port}` };
    expect((await post('refresh', undefined, withCookie(token, headers))).status).toBe(200);
  });

  it('the console without a cookie is told so; who is not the console, that a field is missing', async () => {
    expect(await post('refresh', undefined, FROM_CONSOLE)).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('cookie') as string },
    });
    expect((await post('refresh', {})).status).toBe(400);
  });

  it('on no other route does a cookie count', async () => {
    const token = await loggedIn(await accountOwner(drawbridge));
    const { accessToken } = (await post('refresh', undefined, withCookie(token))).body;
    for (const value of [token, accessToken])
      for (const [method, path] of [
        ['GET', '/auth/me'],
        ['GET', '/sessions'],
        ['POST', '/sessions'],
        ['GET', '/auth/sign-ins'],
      ] as const)
        expect((await drawbridge.api.send(method, path, undefined, withCookie(value))).status).toBe(401);
    expect((await drawbridge.api.post('/auth/verify-mfa', {}, withCookie(token))).status).toBe(400);
  });

  it('where PUBLIC_URL is https the cookie is secure, bound to the host, and the only one that counts', async () => {
    const { port } = await drawbridge.startApi({ PUBLIC_URL: 'https://door.example.com' });
    const api = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
    const { email, password } = await accountOwner(drawbridge);
    const answer = await api.post<Login>('/auth/login', { email, password, ...IN_COOKIE });
    const [cookie, ...attributes] = cookieIn(answer).split('; ');
    expect(cookie).toMatch(/^__Host-drawbridge=[\w-]{43}$/);
    expect(attributes).toEqual(['Path=/', 'Max-Age=43200', 'HttpOnly', 'SameSite=Strict', 'Secure']);
    const token = cookie!.split('=')[1]!;
    const refresh = (Cookie: string) => api.post('/auth/refresh', undefined, { ...FROM_CONSOLE, Cookie });
    expect((await refresh(`drawbridge=${token}`)).status).toBe(401);
    expect((await refresh(`__Host-drawbridge=${token}`)).status).toBe(200);
  });
});
