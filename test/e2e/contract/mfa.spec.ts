import {
  accountOwner,
  ownerWithMfa,
  totpOf,
  type AccountOwner,
  type ApiFailure,
  type Login,
} from '../../builders/accounts/accounts';
import { logOf } from '../../builders/contract/request-lines';
import { documentedOperations } from '../../harness/contract/documented-operations';
import { Drawbridge } from '../../harness/product/drawbridge';

interface Setup {
  readonly secret: string;
  readonly otpauthUrl: string;
  readonly qrCodeBase64: string;
}

const text = expect.any(String) as string;

describe('MFA', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

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
      expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
      const url = new URL(body.otpauthUrl);
      expect(url.protocol).toBe('otpauth:');
      expect(url.searchParams.get('secret')).toBe(body.secret);
      expect(decodeURIComponent(url.pathname)).toContain(owner.email);
      expect(Buffer.from(body.qrCodeBase64, 'base64').subarray(1, 4).toString()).toBe('PNG');
      expect((await owner.loggedIn()).mfaRequired).toBe(false);
    });

    it('is 409 when MFA is on', async () => {
      const owner = await ownerWithMfa(drawbridge);
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
      expect(await logOf(drawbridge)).not.toContain(body.secret);
    });
  });

  describe('POST /mfa/setup/confirm', () => {
    it('turns MFA on with the first code and gives eight recovery codes', async () => {
      const owner = await ownerWithMfa(drawbridge);
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
        body: { validationErrors: { code: text } },
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

    it('ends other sign-ins without a second factor and keeps this one', async () => {
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

  describe('POST /mfa/disable', () => {
    it('turns MFA off with a code', async () => {
      const owner = await ownerWithMfa(drawbridge);
      const answer = await owner.client.post('/mfa/disable', { code: owner.code() });
      expect(answer).toMatchObject({ status: 200, body: {} });
      expect((await owner.loggedIn()).mfaRequired).toBe(false);
      expect(await owner.audited('MFA_DISABLED')).toMatchObject([{ result: 'SUCCESS' }]);
    });

    it('accepts a recovery code instead of a TOTP code', async () => {
      const owner = await ownerWithMfa(drawbridge);
      expect((await owner.client.post('/mfa/disable', { code: owner.recoveryCodes[0] })).status).toBe(200);
    });

    it('is 400 for a wrong code, which is on record, and when MFA is off', async () => {
      const owner = await ownerWithMfa(drawbridge);
      expect((await owner.client.post('/mfa/disable', { code: owner.wrongCode() })).status).toBe(400);
      expect(await isOn(owner)).toBe(true);
      expect(await owner.audited('MFA_DISABLED')).toMatchObject([{ result: 'FAILURE' }]);
      const without = await accountOwner(drawbridge);
      expect((await without.client.post('/mfa/disable', { code: '000000' })).status).toBe(400);
    });

    it('is 400 while the organization requires MFA, and uses no code up', async () => {
      const owner = await ownerWithMfa(drawbridge);
      await owner.organizationSets('mfa_required', true);
      const [code] = owner.recoveryCodes;
      expect((await owner.client.post('/mfa/disable', { code })).status).toBe(400);
      await owner.organizationSets('mfa_required', false);
      expect((await owner.client.post('/mfa/disable', { code })).status).toBe(200);
    });

    it('answers 429 to guessing, while the owner can still sign in', async () => {
      const owner = await ownerWithMfa(drawbridge);
      let last = 0;
      for (let tries = 0; tries < 12 && last !== 429; tries += 1) {
        last = (await owner.client.post('/mfa/disable', { code: owner.wrongCode() })).status;
      }
      expect(last).toBe(429);
      expect((await owner.verify(await owner.challenge(), owner.recoveryCodes[0]!)).status).toBe(200);
    });
  });

  describe('POST /mfa/recovery-codes/regenerate', () => {
    it('gives eight new codes; the old ones work no more', async () => {
      const owner = await ownerWithMfa(drawbridge);
      const answer = await owner.client.post<{ recoveryCodes: string[] }>('/mfa/recovery-codes/regenerate', {
        code: owner.code(),
      });
      expect(answer.status).toBe(200);
      expect(answer.body.recoveryCodes).toHaveLength(8);
      expect((await owner.verify(await owner.challenge(), owner.recoveryCodes[0]!)).status).toBe(401);
      expect((await owner.verify(await owner.challenge(), answer.body.recoveryCodes[0]!)).status).toBe(200);
      expect(await owner.audited('MFA_RECOVERY_CODES_REGENERATED')).toMatchObject([{ result: 'SUCCESS' }]);
    });

    it('is 400 for a wrong code and when MFA is off', async () => {
      const owner = await ownerWithMfa(drawbridge);
      const path = '/mfa/recovery-codes/regenerate';
      expect((await owner.client.post(path, { code: owner.wrongCode() })).status).toBe(400);
      const without = await accountOwner(drawbridge);
      expect((await without.client.post(path, { code: '000000' })).status).toBe(400);
    });
  });

  describe('when the organization requires MFA', () => {
    const limited = async (): Promise<{ owner: AccountOwner; login: Login }> => {
      const owner = await accountOwner(drawbridge);
      await owner.organizationSets('mfa_required', true);
      return { owner, login: await owner.loggedIn() };
    };

    it('a user without MFA gets tokens that reach /mfa and /auth: 403 on every other operation that is not open', async () => {
      const { owner, login } = await limited();
      expect(login).toMatchObject({ mfaRequired: false, mfaSetupRequired: true, refreshToken: text });
      const client = owner.as(login);
      expect((await client.get('/auth/me')).status).toBe(200);
      expect((await client.post('/mfa/setup')).status).toBe(200);
      expect((await client.get<ApiFailure>('/roles')).body.message).toContain('POST /mfa/setup');
      const base = `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1`;
      const closed = (await documentedOperations(base)).filter(
        ({ guarded, path }) => guarded && !/^\/(mfa|auth)\//.test(path),
      );
      expect(closed.length).toBeGreaterThan(40);
      for (const { name, method, path } of closed) {
        expect([name, (await client.send(method, path)).status]).toEqual([name, 403]);
      }
    });

    it('a refresh does not widen it', async () => {
      const { owner, login } = await limited();
      const { refreshToken } = login;
      const again = await drawbridge.api.posted<Login>('/auth/refresh', { refreshToken });
      expect((await owner.as(again).get('/roles')).status).toBe(403);
    });

    it('once MFA is set up the next refresh or login gives a full token', async () => {
      const { owner, login } = await limited();
      await owner.turnMfaOn(owner.as(login));
      const { status, body } = await owner.as(login).get<ApiFailure>('/roles');
      expect(status).toBe(403);
      expect(body.message).toContain('sign in again');
      expect(body.message).not.toContain('/mfa/setup');
      const { refreshToken } = login;
      const refreshed = await drawbridge.api.posted<Login>('/auth/refresh', { refreshToken });
      expect((await owner.as(refreshed).get('/roles')).status).toBe(200);
      const signedIn = await owner.verify(await owner.challenge(), owner.code());
      expect(signedIn.body.mfaSetupRequired).toBe(false);
      expect((await owner.as(signedIn.body).get('/roles')).status).toBe(200);
    });

    it('a signed-in user can continue and refresh until the next login', async () => {
      const owner = await accountOwner(drawbridge);
      await owner.organizationSets('mfa_required', true);
      expect((await owner.client.get('/roles')).status).toBe(200);
      const { refreshToken } = owner.first;
      const again = await drawbridge.api.posted<Login>('/auth/refresh', { refreshToken });
      expect((await owner.as(again).get('/roles')).status).toBe(200);
      expect((await owner.loggedIn()).mfaSetupRequired).toBe(true);
    });

    it('when it requires it no longer, the next refresh is full again', async () => {
      const { owner, login } = await limited();
      await owner.organizationSets('mfa_required', false);
      const { refreshToken } = login;
      const again = await drawbridge.api.posted<Login>('/auth/refresh', { refreshToken });
      expect((await owner.as(again).get('/roles')).status).toBe(200);
    });
  });
});
