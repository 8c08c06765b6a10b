import { createHash } from 'node:crypto';
import { accountOwner, type ApiFailure, accountCalls } from '../../builders/accounts/accounts';
import { logOf } from '../../builders/contract/request-lines';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const text = expect.any(String) as string;

describe('4.1 Accounts and tokens: refreshing, signing out, GET /auth/me', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const { post, refresh } = accountCalls(() => drawbridge);

  describe('POST /auth/refresh', () => {
    it('exchanges a refresh token for a new pair and the user', async () => {
      const owner = await accountOwner(drawbridge);
      const { status, body } = await refresh(owner.first);
      expect(status).toBe(200);
      expect(body.user.id).toBe(owner.id);
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

    it('a reused token ends its whole family, which is recorded', async () => {
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

    it('and for no longer: then the access tokens of the sign-in stop, too', async () => {
      const owner = await accountOwner(drawbridge);
      const next = (await refresh(owner.first)).body;
      await drawbridge.query(
        `UPDATE refresh_tokens SET used_at = used_at - interval '11 seconds' WHERE user_id = $1`,
        [owner.id],
      );
      expect((await refresh(owner.first)).status).toBe(401);
      expect((await refresh(next)).status).toBe(401);
      for (const login of [owner.first, next])
        expect((await owner.as(login).get('/auth/me')).status).toBe(401);
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

    it('is 401 for an access token, 400 without one', async () => {
      const owner = await accountOwner(drawbridge);
      expect((await refresh({ refreshToken: owner.first.accessToken })).status).toBe(401);
      const { status, body } = await post<ApiFailure>('refresh', {});
      expect({ status, errors: body.validationErrors }).toEqual({
        status: 400,
        errors: { refreshToken: text },
      });
    });

    it('is 401 for a token of any length, which POST /auth/logout takes', async () => {
      for (const length of [6, 201, 99_000]) {
        const refreshToken = 'x'.repeat(length);
        expect((await refresh({ refreshToken })).status).toBe(401);
        expect(await post('logout', { refreshToken })).toMatchObject({ status: 200, body: {} });
      }
    });

    it('of two lineages that were forgiven, the first use of the older one ends the family', async () => {
      const owner = await accountOwner(drawbridge);
      const older = (await refresh(owner.first)).body;
      const newer = (await refresh(owner.first)).body;
      const next = (await refresh(newer)).body;
      expect((await owner.as(next).get('/auth/me')).status).toBe(200);
      expect((await refresh(older)).status).toBe(401);
      expect((await refresh(next)).status).toBe(401);
      expect(await owner.audited('TOKEN_REUSED')).toHaveLength(1);
    });

    it('nor may the older one be the first that is used', async () => {
      const owner = await accountOwner(drawbridge);
      const older = (await refresh(owner.first)).body;
      const newer = (await refresh(owner.first)).body;
      expect((await refresh(older)).status).toBe(401);
      expect((await refresh(newer)).status).toBe(401);
    });

    it('a sign-in ends 30 days after it began, even when refreshed, and its access token with it', async () => {
      const owner = await accountOwner(drawbridge);
      const began = (ago: string): Promise<object[]> =>
        drawbridge.query(
          'UPDATE refresh_tokens SET signed_in_at = now() - $2::interval, used_at = NULL WHERE user_id = $1',
          [owner.id, ago],
        );
      await began('29 days 23 hours 59 minutes');
      const last = await refresh(owner.first);
      expect(last).toMatchObject({ status: 200 });
      expect(last.body.expiresIn).toBeLessThanOrEqual(60);
      const [row] = await drawbridge.query<{ seconds: number }>(
        `SELECT extract(epoch FROM max(expires_at) - now())::float8 AS seconds FROM refresh_tokens
         WHERE user_id = $1 AND token_hash = $2`,
        [owner.id, createHash('sha256').update(last.body.refreshToken).digest('hex')],
      );
      expect(row!.seconds).toBeLessThanOrEqual(60);
      await began('30 days 1 second');
      expect((await refresh(last.body)).status).toBe(401);
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

    it('ends the access token of that sign-in, and keeps other sign-ins', async () => {
      const owner = await accountOwner(drawbridge);
      const other = await owner.loggedIn();
      await logout(owner.first.refreshToken);
      expect((await owner.client.get('/sessions')).status).toBe(401);
      expect((await owner.as(other).get('/sessions')).status).toBe(200);
      expect((await refresh(other)).status).toBe(200);
    });
  });

  it('GET /auth/me shows the user and the organization, also that it is suspended', async () => {
    const owner = await accountOwner(drawbridge);
    await owner.organizationSets('suspended_at', new Date());
    const { status, body } = await owner.client.get<{ lastLoginAt: string }>('/auth/me');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: owner.id,
      email: owner.email,
      isActive: true,
      mfaEnabled: false,
      platformRole: 'CUSTOMER',
      defaultSessionHours: 1,
      organization: {
        id: owner.organizationId,
        name: 'Example',
        subscriptionTier: 'FREE',
        suspended: true,
        requireDetectedAddress: false,
      },
    });
    expect(Date.parse(body.lastLoginAt)).toBeGreaterThan(Date.now() - 60_000);
  });

  it('passwords and tokens are nowhere in the log or the audit trail', async () => {
    const owner = await accountOwner(drawbridge);
    const login = await owner.loggedIn();
    await drawbridge.api.as({ token: login.accessToken }).get('/auth/me');
    await refresh(login);
    const [dump] = await drawbridge.query<{ dump: string }>(
      'SELECT jsonb_agg(a)::text AS dump FROM audit_records a',
    );
    const log = await logOf(drawbridge);
    expect(log).toContain('/api/v1/auth/refresh');
    for (const secret of [owner.password, login.accessToken, login.refreshToken]) {
      expect(log).not.toContain(secret);
      expect(dump!.dump).not.toContain(secret);
    }
  });
});
