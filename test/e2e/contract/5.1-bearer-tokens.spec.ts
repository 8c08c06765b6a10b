import { createHmac, randomBytes } from 'node:crypto';
import { accountOwner, type AccountOwner, type Login } from '../../builders/accounts/accounts';
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

  const signed = (given: Claims, secret = drawbridge.jwtSecret): string => {
    const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(given)}`;
    return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
  };
  const statusOf = async (token: string): Promise<number> =>
    (await drawbridge.api.as({ token }).get('/sessions')).status;

  it('an access token is valid for 15 minutes and contains the user, the organization and the roles', async () => {
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
    const other = await accountOwner(drawbridge);
    await drawbridge.query('UPDATE users SET is_org_admin = false WHERE id = $1', [other.id]);
    expect(claimsOf((await other.loggedIn()).accessToken)['roles']).toEqual(['USER']);
  });

  it('a token that is signed with another secret, expired, or of another algorithm is 401', async () => {
    expect(await statusOf(signed(claims))).toBe(200);
    const expired = { ...claims, exp: Math.floor(Date.now() / 1000) - 1 };
    const unsigned = `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`;
    for (const token of [signed(claims, 'another secret of thirty-two letters'), signed(expired), unsigned])
      expect(await statusOf(token)).toBe(401);
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

  it('the lifetimes are the deployment’s: ACCESS_TOKEN_TTL and REFRESH_TOKEN_TTL', async () => {
    const { port } = await drawbridge.startApi({
      ACCESS_TOKEN_TTL: '60',
      REFRESH_TOKEN_TTL: '3600',
    });
    const { email, password } = owner;
    const brief = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
    const login = await brief.posted<Login>('/auth/login', { email, password });
    const lasts = claimsOf(login.accessToken);
    expect([login.expiresIn, Number(lasts['exp']) - Number(lasts['iat'])]).toEqual([60, 60]);
    const [row] = await drawbridge.query<{ seconds: number }>(
      `SELECT extract(epoch FROM expires_at - created_at)::float8 AS seconds FROM refresh_tokens
       WHERE token_hash = encode(sha256($1::text::bytea), 'hex')`,
      [login.refreshToken],
    );
    expect(row!.seconds).toBeCloseTo(3600);
  });
});
