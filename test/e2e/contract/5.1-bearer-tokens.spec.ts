import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import {
  accountOwner,
  type AccountOwner,
  type ApiFailure,
  type Login,
} from '../../builders/accounts/accounts';
import { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

type Claims = Record<string, unknown>;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const claimsOf = (token: string): Claims =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Claims;

describe('5.1 Bearer tokens', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let owner: AccountOwner;
  let claims: Claims;

  beforeAll(async () => {
    owner = await accountOwner(drawbridge);
    claims = claimsOf(owner.first.accessToken);
  });

  const signed = (given: Claims, alg = 'HS256', digest = 'sha256', secret = drawbridge.jwtSecret): string => {
    const content = `${encode({ alg, typ: 'JWT' })}.${encode(given)}`;
    return `${content}.${createHmac(digest, secret).update(content).digest('base64url')}`;
  };
  const statusOf = async (token: string): Promise<number> =>
    (await drawbridge.api.as({ token }).get('/sessions')).status;

  it('an access token is valid for 15 minutes and contains the user, the organization and the roles', () => {
    expect(claims).toMatchObject({
      sub: owner.id,
      org: owner.organizationId,
      roles: ['USER', 'ORG_ADMIN'],
      platformRole: 'CUSTOMER',
      iss: 'drawbridge',
      aud: 'drawbridge-api',
    });
    expect(Number(claims['exp']) - Number(claims['iat'])).toBe(900);
    expect(owner.first.expiresIn).toBe(900);
  });

  it('every active user has USER, admins have ORG_ADMIN too', async () => {
    const other = await accountOwner(drawbridge);
    await drawbridge.query('UPDATE users SET is_org_admin = false WHERE id = $1', [other.id]);
    expect(claimsOf((await other.loggedIn()).accessToken)['roles']).toEqual(['USER']);
  });

  it('the test signs as the service does', async () => {
    expect(await statusOf(signed(claims))).toBe(200);
  });

  it('a missing token is 401', async () => {
    const { status, body, headers } = await drawbridge.api.get<ApiFailure>('/sessions');
    expect(status).toBe(401);
    expect(Object.keys(body).toSorted()).toEqual(['error', 'message', 'path', 'status', 'timestamp']);
    expect(body).toMatchObject({ status: 401, error: 'Unauthorized', path: '/api/v1/sessions' });
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  const now = (): number => Math.floor(Date.now() / 1000);
  it.each<[string, () => string]>([
    ['no JWT', () => 'nonsense'],
    ['expired', () => signed({ ...claims, exp: now() - 1 })],
    [
      'signed with another secret',
      () => signed(claims, 'HS256', 'sha256', 'another secret of thirty-two letters'),
    ],
    ['changed afterwards', () => signed(claims).replace(/\.[^.]+\./, `.${encode({ ...claims, x: 1 })}.`)],
    ['of the algorithm "none"', () => `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`],
    ['of the algorithm HS512', () => signed(claims, 'HS512', 'sha512')],
    ['of the algorithm HS384', () => signed(claims, 'HS384', 'sha384')],
    ['of another issuer', () => signed({ ...claims, iss: 'elsewhere' })],
    ['without an issuer', () => signed({ ...claims, iss: undefined })],
    ['for another audience', () => signed({ ...claims, aud: 'elsewhere' })],
    ['of the type of an MFA challenge', () => signed({ ...claims, typ: 'mfa-challenge' })],
    ['of the type of a password change', () => signed({ ...claims, typ: 'password-change' })],
    ['without an end', () => signed({ ...claims, exp: undefined })],
    ['without a type', () => signed({ ...claims, typ: undefined })],
    ['of a user that does not exist', () => signed({ ...claims, sub: randomUUID() })],
    ['of another organization', () => signed({ ...claims, org: randomUUID() })],
  ])('a token that is %s is 401', async (_, token) => {
    expect(await statusOf(token())).toBe(401);
  });

  it('JWT_PREVIOUS_SECRETS: old tokens stay valid after a change of the secret, and new tokens name their key', async () => {
    const { port } = await drawbridge.startApi({
      JWT_SECRET: randomBytes(32).toString('hex'),
      JWT_PREVIOUS_SECRETS: drawbridge.jwtSecret,
    });
    const rotated = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
    const old = await owner.loggedIn();
    expect((await rotated.as({ token: old.accessToken }).get('/auth/me')).status).toBe(200);
    const { refreshToken } = old;
    const next = await rotated.posted<Login>('/auth/refresh', { refreshToken });
    expect((await rotated.as({ token: next.accessToken }).get('/auth/me')).status).toBe(200);
    expect(await statusOf(next.accessToken)).toBe(401);
    const kids = [old, next].map(
      ({ accessToken }) =>
        (JSON.parse(Buffer.from(accessToken.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid,
    );
    expect(new Set(kids).size).toBe(2);
    expect(kids).toEqual([expect.stringMatching(/^[\w-]{16}$/), expect.stringMatching(/^[\w-]{16}$/)]);
  });

  it('real tokens of other types are 401: challenge, password change, refresh', async () => {
    const other = await accountOwner(drawbridge);
    await other.turnMfaOn();
    const { mfaChallengeToken } = await other.loggedIn();
    expect(await statusOf(mfaChallengeToken!)).toBe(401);
    expect(await statusOf(other.first.refreshToken)).toBe(401);
  });

  it('ACCESS_TOKEN_TTL: a token that has run out is 401, and POST /auth/refresh gives another', async () => {
    const late = signed({ ...claims, iat: now() - 901, exp: now() - 1 });
    expect(await statusOf(late)).toBe(401);
    const { refreshToken } = await owner.loggedIn();
    const next = await drawbridge.api.posted<Login>('/auth/refresh', { refreshToken });
    expect(await statusOf(next.accessToken)).toBe(200);
  });

  it('the lifetimes are the deployment’s: ACCESS_TOKEN_TTL and REFRESH_TOKEN_TTL, seven days when it says nothing', async () => {
    const { port } = await drawbridge.startApi({
      ACCESS_TOKEN_TTL: '60',
      REFRESH_TOKEN_TTL: '3600',
    });
    const { email, password } = owner;
    const brief = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
    const login = await brief.posted<Login>('/auth/login', { email, password });
    const lasts = claimsOf(login.accessToken);
    expect([login.expiresIn, Number(lasts['exp']) - Number(lasts['iat'])]).toEqual([60, 60]);
    const refreshSeconds = async ({ refreshToken }: Login): Promise<number> => {
      const [row] = await drawbridge.query<{ seconds: number }>(
        `SELECT round(extract(epoch FROM expires_at - now()))::int AS seconds FROM refresh_tokens
         WHERE token_hash = encode(sha256($1::text::bytea), 'hex')`,
        [refreshToken],
      );
      return row!.seconds;
    };
    expect(await refreshSeconds(login)).toBeGreaterThan(3500);
    expect(await refreshSeconds(login)).toBeLessThanOrEqual(3600);
    expect(await refreshSeconds(await owner.loggedIn())).toBeGreaterThan(7 * 86_400 - 100);
  });

  it('a role that is too low is 403', async () => {
    const user = await accountOwner(drawbridge);
    await drawbridge.query('UPDATE users SET is_org_admin = false WHERE id = $1', [user.id]);
    expect(await user.client.get<ApiFailure>('/roles')).toMatchObject({
      status: 403,
      body: { status: 403, error: 'Forbidden', path: '/api/v1/roles' },
    });
  });

  it('roles written into a token give nothing', async () => {
    const user = await accountOwner(drawbridge);
    await drawbridge.query('UPDATE users SET is_org_admin = false WHERE id = $1', [user.id]);
    const token = signed({ ...claimsOf(user.first.accessToken), roles: ['USER', 'ORG_ADMIN'] });
    expect((await drawbridge.api.as({ token }).get('/roles')).status).toBe(403);
  });

  describe('effective on the next request', () => {
    it('a deactivated user is 401, and in again when active again', async () => {
      const user = await accountOwner(drawbridge);
      const active = (is: boolean): Promise<object[]> =>
        drawbridge.query('UPDATE users SET is_active = $2 WHERE id = $1', [user.id, is]);
      await active(false);
      expect((await user.client.get('/sessions')).status).toBe(401);
      await active(true);
      expect((await user.client.get('/sessions')).status).toBe(200);
    });

    it('a sign-out is 401 for the access token of that sign-in, and for no other', async () => {
      const [one, another] = [await owner.loggedIn(), await owner.loggedIn()];
      await drawbridge.api.post('/auth/logout', { refreshToken: one.refreshToken });
      expect(await statusOf(one.accessToken)).toBe(401);
      expect(await statusOf(another.accessToken)).toBe(200);
    });

    it('a refresh token used twice, hence stolen, takes the access tokens of its sign-in with it', async () => {
      const stolen = await owner.loggedIn();
      await drawbridge.api.post('/auth/refresh', { refreshToken: stolen.refreshToken });
      await drawbridge.query(
        `UPDATE refresh_tokens SET used_at = used_at - interval '1 minute' WHERE used_at IS NOT NULL`,
      );
      expect((await drawbridge.api.post('/auth/refresh', { refreshToken: stolen.refreshToken })).status).toBe(
        401,
      );
      expect(await statusOf(stolen.accessToken)).toBe(401);
    });

    it.each([
      ['deactivated', 'is_active = false'],
      ['deleted', 'is_active = false, deleted_at = now()'],
    ])('a %s user is 401', async (_, change) => {
      const user = await accountOwner(drawbridge);
      await drawbridge.query(`UPDATE users SET ${change} WHERE id = $1`, [user.id]);
      expect((await user.client.get('/sessions')).status).toBe(401);
    });

    it('a lost admin right is 403, a new one works', async () => {
      const user = await accountOwner(drawbridge);
      await drawbridge.query('UPDATE users SET is_org_admin = false WHERE id = $1', [user.id]);
      expect((await user.client.get('/roles')).status).toBe(403);
      await drawbridge.query('UPDATE users SET is_org_admin = true WHERE id = $1', [user.id]);
      expect((await user.client.get('/roles')).status).toBe(200);
    });

    it('a suspended organization is shown as such', async () => {
      const user = await accountOwner(drawbridge);
      await user.organizationSets('suspended_at', new Date());
      const { body } = await user.client.get<{ organization: { suspended: boolean } }>('/auth/me');
      expect(body.organization.suspended).toBe(true);
    });
  });
});
