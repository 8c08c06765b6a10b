import { createHmac } from 'node:crypto';
import {
  accountOwner,
  totpOf,
  type AccountOwner,
  type ApiFailure,
  type Login,
} from '../../builders/accounts';
import { Drawbridge } from '../../harness/drawbridge';

const SECRET = 'a signing secret that the test knows too';

interface Setup {
  readonly secret: string;
  readonly otpauthUrl: string;
  readonly qrCodeBase64: string;
}

describe('MFA', () => {
  let drawbridge: Drawbridge;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({ worker: false, api: { JWT_SECRET: SECRET } });
  });
  afterAll(() => drawbridge.stop());

  const withMfa = async (): Promise<AccountOwner> => {
    const owner = await accountOwner(drawbridge);
    await owner.turnMfaOn();
    return owner;
  };
  const challenge = async (owner: AccountOwner): Promise<string> => {
    const login = await owner.loggedIn();
    expect(login.mfaRequired).toBe(true);
    return login.mfaChallengeToken!;
  };
  const isOn = async ({ id }: AccountOwner): Promise<boolean> => {
    const [row] = await drawbridge.query<{ on: boolean }>(
      'SELECT mfa_enabled AS on FROM users WHERE id = $1',
      [id],
    );
    return row!.on;
  };

  describe('POST /mfa/setup', () => {
    it('gives a secret, a link and a QR code, and changes nothing until it is confirmed', async () => {
      const owner = await accountOwner(drawbridge);
      const { status, body } = await owner.client.post<Setup>('/mfa/setup');
      expect(status).toBe(200);
      expect(Object.keys(body).toSorted()).toEqual(['otpauthUrl', 'qrCodeBase64', 'secret']);
      expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
      const url = new URL(body.otpauthUrl);
      expect(url.protocol).toBe('otpauth:');
      expect(url.searchParams.get('secret')).toBe(body.secret);
      expect(decodeURIComponent(url.pathname)).toContain(owner.email);
      expect(Buffer.from(body.qrCodeBase64, 'base64').subarray(1, 4).toString()).toBe('PNG');
      expect((await owner.loggedIn()).mfaRequired).toBe(false);
    });

    it('is 409 when MFA is on', async () => {
      const owner = await withMfa();
      expect((await owner.client.post('/mfa/setup')).status).toBe(409);
      expect((await owner.client.post('/mfa/setup/confirm', { code: '000000' })).status).toBe(409);
    });

    it('keeps the secret encrypted: it is nowhere in the database, the log or an audit record', async () => {
      const owner = await accountOwner(drawbridge);
      const { body } = await owner.client.post<Setup>('/mfa/setup');
      const [dump] = await drawbridge.query<{ dump: string }>(
        `SELECT (SELECT jsonb_agg(u)::text FROM users u) || (SELECT jsonb_agg(a)::text FROM audit_records a) AS dump`,
      );
      expect(dump!.dump).toContain(owner.email);
      expect(dump!.dump).not.toContain(body.secret);
      expect(drawbridge.apiServer.output).not.toContain(body.secret);
    });
  });

  describe('POST /mfa/setup/confirm', () => {
    it('turns MFA on with the first code and gives eight recovery codes', async () => {
      const owner = await withMfa();
      expect(new Set(owner.recoveryCodes).size).toBe(8);
      const me = await owner.client.get<{ mfaEnabled: boolean }>('/auth/me');
      expect(me.body.mfaEnabled).toBe(true);
      expect(await owner.audited('MFA_ENABLED')).toMatchObject([
        { result: 'SUCCESS', actorEmail: owner.email },
      ]);
    });

    it('is 400 for a wrong code, which names the field, and without a set-up', async () => {
      const owner = await accountOwner(drawbridge);
      expect((await owner.client.post('/mfa/setup/confirm', { code: '123456' })).status).toBe(400);
      const { body } = await owner.client.post<Setup>('/mfa/setup');
      const right = totpOf(body.secret).generate();
      const wrong = right === '000000' ? '000001' : '000000';
      const refused = await owner.client.post<ApiFailure>('/mfa/setup/confirm', { code: wrong });
      expect(refused).toMatchObject({
        status: 400,
        body: { validationErrors: { code: expect.any(String) as string } },
      });
      expect((await owner.client.post('/mfa/setup/confirm', {})).body).toMatchObject({
        validationErrors: { code: expect.any(String) as string },
      });
      expect(await isOn(owner)).toBe(false);
    });

    it('takes the newest secret only', async () => {
      const owner = await accountOwner(drawbridge);
      const older = await owner.client.post<Setup>('/mfa/setup');
      await owner.client.post<Setup>('/mfa/setup');
      const code = totpOf(older.body.secret).generate();
      expect((await owner.client.post('/mfa/setup/confirm', { code })).status).toBe(400);
    });

    it('ends the other sign-ins, made without a second factor, and lets this one go on', async () => {
      const owner = await accountOwner(drawbridge);
      const other = await owner.loggedIn();
      await owner.turnMfaOn();
      const refresh = ({ refreshToken }: Login) =>
        drawbridge.api.post<Login>('/auth/refresh', { refreshToken });
      expect((await refresh(other)).status).toBe(401);
      const own = await refresh(owner.first);
      expect(own).toMatchObject({ status: 200, body: { user: { mfaEnabled: true } } });
    });
  });

  describe('POST /auth/verify-mfa', () => {
    it('a right password then gets a challenge of 300 seconds and no tokens', async () => {
      const owner = await withMfa();
      expect(await owner.loggedIn()).toEqual({
        mfaRequired: true,
        mfaChallengeToken: expect.any(String) as string,
        mfaChallengeExpiresIn: 300,
        mfaSetupRequired: false,
        passwordExpired: false,
        passwordChangeToken: null,
        accessToken: null,
        refreshToken: null,
        tokenType: null,
        expiresIn: null,
        user: null,
      });
    });

    it('a code of the authenticator signs in', async () => {
      const owner = await withMfa();
      const answer = await owner.verify(await challenge(owner), owner.code());
      expect(answer).toMatchObject({
        status: 200,
        body: { mfaRequired: false, tokenType: 'Bearer', user: { email: owner.email, mfaEnabled: true } },
      });
      expect((await owner.as(answer.body).get('/sessions')).status).toBe(200);
    });

    it('a code is accepted once, also when it comes three times at once', async () => {
      const owner = await withMfa();
      const challenges = [await challenge(owner), await challenge(owner), await challenge(owner)];
      const code = owner.code();
      const answers = await Promise.all(challenges.map((token) => owner.verify(token, code)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
      expect((await owner.verify(await challenge(owner), code)).status).toBe(401);
    });

    it('the code that confirmed the set-up does not sign in', async () => {
      const owner = await accountOwner(drawbridge);
      const { body } = await owner.client.post<Setup>('/mfa/setup');
      const code = totpOf(body.secret).generate();
      await owner.client.expect(200, owner.client.post('/mfa/setup/confirm', { code }));
      expect((await owner.verify(await challenge(owner), code)).status).toBe(401);
    });

    it('a recovery code signs in and is used up, however it is spelled', async () => {
      const owner = await withMfa();
      const [code] = owner.recoveryCodes;
      const spelled = ` ${code!.toUpperCase().replaceAll('-', ' ')}`;
      expect((await owner.verify(await challenge(owner), spelled)).status).toBe(200);
      expect((await owner.verify(await challenge(owner), code!)).status).toBe(401);
    });

    it('one recovery code sent a hundred times at once gives exactly one success', async () => {
      const owner = await withMfa();
      const tokens = await Promise.all(Array.from({ length: 4 }, () => challenge(owner)));
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => owner.verify(tokens[index % 4]!, owner.recoveryCodes[0]!)),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status !== 200 && status !== 401 && status !== 429)).toEqual([]);
    });

    it('one challenge makes one sign-in, whatever right codes it gets', async () => {
      const owner = await withMfa();
      const token = await challenge(owner);
      const answers = await Promise.all(
        owner.recoveryCodes.slice(0, 4).map((code) => owner.verify(token, code)),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
      const [left] = await drawbridge.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL',
        [owner.id],
      );
      expect(left!.count).toBe(7);
    });

    it('a wrong code is 401 and is on record', async () => {
      const owner = await withMfa();
      const answer = await owner.verify(await challenge(owner), owner.wrongCode());
      expect(answer).toMatchObject({ status: 401, body: { error: 'Unauthorized' } });
      expect((await owner.verify(await challenge(owner), 'no-such-code')).status).toBe(401);
      const records = await owner.audited('USER_LOGIN');
      expect(records.map(({ result }) => result)).toEqual(['FAILURE', 'FAILURE']);
    });

    it('after five tries the challenge is over, even for the right code', async () => {
      const owner = await withMfa();
      const token = await challenge(owner);
      for (let tries = 0; tries < 5; tries += 1) {
        expect((await owner.verify(token, owner.wrongCode())).status).toBe(401);
      }
      expect((await owner.verify(token, owner.recoveryCodes[0]!)).status).toBe(401);
      expect((await owner.verify(await challenge(owner), owner.recoveryCodes[0]!)).status).toBe(200);
    });

    it('after 300 seconds the challenge is over', async () => {
      const owner = await withMfa();
      const token = await challenge(owner);
      const { exp, iat } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<
        'exp' | 'iat',
        number
      >;
      expect(exp - iat).toBe(300);
      await drawbridge.query(
        `UPDATE mfa_challenges SET expires_at = expires_at - interval '300 seconds' WHERE user_id = $1`,
        [owner.id],
      );
      expect((await owner.verify(token, owner.code())).status).toBe(401);
    });

    it('wrong codes lock the account like wrong passwords, and a right password alone does not count anew', async () => {
      const owner = await withMfa();
      let last = 0;
      for (let tries = 0; tries < 12 && last !== 429; tries += 1) {
        const login = await owner.login();
        last = login.status;
        if (last === 200) last = (await owner.verify(login.body.mfaChallengeToken, owner.wrongCode())).status;
      }
      expect(last).toBe(429);
      const refused = await owner.login();
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await owner.audited('USER_LOCKED_OUT')).toMatchObject([{ result: 'FAILURE' }]);
    });

    it('takes no other token: an access token, one of another algorithm, none', async () => {
      const owner = await withMfa();
      const token = await challenge(owner);
      const [, payload] = token.split('.');
      const hs512 = `${Buffer.from('{"alg":"HS512","typ":"JWT"}').toString('base64url')}.${payload}`;
      const forged = [
        owner.first.accessToken,
        `${hs512}.${createHmac('sha512', SECRET).update(hs512).digest('base64url')}`,
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
        'nonsense',
      ];
      for (const bad of forged) expect((await owner.verify(bad, owner.recoveryCodes[0]!)).status).toBe(401);
      expect((await drawbridge.api.post('/auth/verify-mfa', {})).body).toMatchObject({
        status: 400,
        validationErrors: {
          mfaChallengeToken: expect.any(String) as string,
          code: expect.any(String) as string,
        },
      });
      expect((await owner.verify(token, owner.recoveryCodes[0]!)).status).toBe(200);
    });

    it('a challenge is worth nothing after its user was deactivated or the password changed', async () => {
      const owner = await withMfa();
      const before = await challenge(owner);
      const { password } = owner;
      await owner.client.expect(
        200,
        owner.client.post('/auth/change-password', {
          currentPassword: password,
          newPassword: `${password}X`,
        }),
      );
      expect((await owner.verify(before, owner.recoveryCodes[0]!)).status).toBe(401);
      owner.password = `${password}X`;
      const after = await challenge(owner);
      await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [owner.id]);
      expect((await owner.verify(after, owner.recoveryCodes[0]!)).status).toBe(401);
    });
  });

  describe('POST /mfa/disable', () => {
    it('turns MFA off with a code', async () => {
      const owner = await withMfa();
      const answer = await owner.client.post('/mfa/disable', { code: owner.code() });
      expect(answer).toMatchObject({ status: 200, body: {} });
      expect((await owner.loggedIn()).mfaRequired).toBe(false);
      expect(await owner.audited('MFA_DISABLED')).toMatchObject([{ result: 'SUCCESS' }]);
    });

    it('takes a recovery code of who lost the authenticator', async () => {
      const owner = await withMfa();
      expect((await owner.client.post('/mfa/disable', { code: owner.recoveryCodes[0] })).status).toBe(200);
    });

    it('is 400 for a wrong code, which is on record, and when MFA is off', async () => {
      const owner = await withMfa();
      expect((await owner.client.post('/mfa/disable', { code: owner.wrongCode() })).status).toBe(400);
      expect(await isOn(owner)).toBe(true);
      expect(await owner.audited('MFA_DISABLED')).toMatchObject([{ result: 'FAILURE' }]);
      const without = await accountOwner(drawbridge);
      expect((await without.client.post('/mfa/disable', { code: '000000' })).status).toBe(400);
    });

    it('is 400 while the organization requires MFA, and uses no code up', async () => {
      const owner = await withMfa();
      await owner.organizationSets('mfa_required', true);
      const [code] = owner.recoveryCodes;
      expect((await owner.client.post('/mfa/disable', { code })).status).toBe(400);
      await owner.organizationSets('mfa_required', false);
      expect((await owner.client.post('/mfa/disable', { code })).status).toBe(200);
    });

    it('refuses who guesses: 429, while the owner still signs in', async () => {
      const owner = await withMfa();
      let last = 0;
      for (let tries = 0; tries < 12 && last !== 429; tries += 1) {
        last = (await owner.client.post('/mfa/disable', { code: owner.wrongCode() })).status;
      }
      expect(last).toBe(429);
      expect((await owner.verify(await challenge(owner), owner.recoveryCodes[0]!)).status).toBe(200);
    });
  });

  describe('POST /mfa/recovery-codes/regenerate', () => {
    it('gives eight new codes; the old ones work no more', async () => {
      const owner = await withMfa();
      const answer = await owner.client.post<{ recoveryCodes: string[] }>('/mfa/recovery-codes/regenerate', {
        code: owner.code(),
      });
      expect(answer.status).toBe(200);
      expect(answer.body.recoveryCodes).toHaveLength(8);
      expect((await owner.verify(await challenge(owner), owner.recoveryCodes[0]!)).status).toBe(401);
      expect((await owner.verify(await challenge(owner), answer.body.recoveryCodes[0]!)).status).toBe(200);
      expect(await owner.audited('MFA_RECOVERY_CODES_REGENERATED')).toMatchObject([{ result: 'SUCCESS' }]);
    });

    it('is 400 for a wrong code and when MFA is off', async () => {
      const owner = await withMfa();
      const path = '/mfa/recovery-codes/regenerate';
      expect((await owner.client.post(path, { code: owner.wrongCode() })).status).toBe(400);
      const without = await accountOwner(drawbridge);
      expect((await without.client.post(path, { code: '000000' })).status).toBe(400);
    });
  });

  it('every MFA endpoint takes a bearer token only', async () => {
    const owner = await accountOwner(drawbridge);
    await owner.organizationSets('subscription_tier', 'PAID');
    const key = await owner.client.expect(
      201,
      owner.client.post<{ plainTextKey: string }>('/api-keys', { name: 'ci', scopes: ['sessions:write'] }),
    );
    for (const path of [
      '/mfa/setup',
      '/mfa/setup/confirm',
      '/mfa/disable',
      '/mfa/recovery-codes/regenerate',
    ]) {
      const statuses = [
        (await drawbridge.api.post(path, { code: '1' })).status,
        (await drawbridge.api.as({ apiKey: key.plainTextKey }).post(path, { code: '1' })).status,
      ];
      expect({ path, statuses }).toEqual({ path, statuses: [401, 401] });
    }
  });

  describe('when the organization requires MFA', () => {
    const limited = async (): Promise<{ owner: AccountOwner; login: Login }> => {
      const owner = await accountOwner(drawbridge);
      await owner.organizationSets('mfa_required', true);
      return { owner, login: await owner.loggedIn() };
    };

    it('who has none signs in with mfaSetupRequired and tokens', async () => {
      const { login } = await limited();
      expect(login).toMatchObject({
        mfaRequired: false,
        mfaSetupRequired: true,
        accessToken: expect.any(String) as string,
        refreshToken: expect.any(String) as string,
      });
    });

    it('that access token reaches /mfa and /auth, and every other route is 403', async () => {
      const { owner, login } = await limited();
      const client = owner.as(login);
      expect((await client.get('/auth/me')).status).toBe(200);
      expect((await client.post('/mfa/setup')).status).toBe(200);
      const routes = ['/sessions', '/sessions/admin', '/resources', '/credentials', '/roles', '/api-keys'];
      for (const path of routes) {
        expect({ path, status: (await client.get(path)).status }).toEqual({ path, status: 403 });
      }
      expect((await client.post('/sessions', {})).status).toBe(403);
      expect((await client.get<ApiFailure>('/roles')).body.message).toContain('POST /mfa/setup');
    });

    it('a refresh does not widen it', async () => {
      const { owner, login } = await limited();
      const { refreshToken } = login;
      const again = await drawbridge.api.expect(
        200,
        drawbridge.api.post<Login>('/auth/refresh', { refreshToken }),
      );
      expect((await owner.as(again).get('/roles')).status).toBe(403);
    });

    it('once MFA is set up the next refresh or login gives a full token', async () => {
      const { owner, login } = await limited();
      await owner.turnMfaOn(owner.as(login));
      expect((await owner.as(login).get('/roles')).status).toBe(403);
      const { refreshToken } = login;
      const refreshed = await drawbridge.api.expect(
        200,
        drawbridge.api.post<Login>('/auth/refresh', { refreshToken }),
      );
      expect((await owner.as(refreshed).get('/roles')).status).toBe(200);
      const signedIn = await owner.verify(await challenge(owner), owner.code());
      expect(signedIn.body.mfaSetupRequired).toBe(false);
      expect((await owner.as(signedIn.body).get('/roles')).status).toBe(200);
    });

    it('who is signed in already goes on, and refreshes, until the next login', async () => {
      const owner = await accountOwner(drawbridge);
      await owner.organizationSets('mfa_required', true);
      expect((await owner.client.get('/roles')).status).toBe(200);
      const { refreshToken } = owner.first;
      const again = await drawbridge.api.expect(
        200,
        drawbridge.api.post<Login>('/auth/refresh', { refreshToken }),
      );
      expect((await owner.as(again).get('/roles')).status).toBe(200);
      expect((await owner.loggedIn()).mfaSetupRequired).toBe(true);
    });

    it('when it requires it no longer, the next refresh is full again', async () => {
      const { owner, login } = await limited();
      await owner.organizationSets('mfa_required', false);
      const { refreshToken } = login;
      const again = await drawbridge.api.expect(
        200,
        drawbridge.api.post<Login>('/auth/refresh', { refreshToken }),
      );
      expect((await owner.as(again).get('/roles')).status).toBe(200);
    });
  });
});
