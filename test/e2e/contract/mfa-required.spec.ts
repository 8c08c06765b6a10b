import {
  accountOwner,
  type AccountOwner,
  type ApiFailure,
  type Login,
} from '../../builders/accounts/accounts';
import { documentedOperations } from '../../harness/contract/documented-operations';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('MFA', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  describe('when the organization requires MFA', () => {
    const limited = async (): Promise<{ owner: AccountOwner; login: Login }> => {
      const owner = await accountOwner(drawbridge);
      await owner.organizationSets('mfa_required', true);
      return { owner, login: await owner.loggedIn() };
    };

    it('a user without MFA signs in with mfaSetupRequired and tokens', async () => {
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

    it('the token reaches nothing else: 403 on every operation that is not open', async () => {
      const { owner, login } = await limited();
      const base = `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1`;
      const closed = (await documentedOperations(base)).filter(
        ({ guarded, path }) => guarded && !/^\/(mfa|auth)\//.test(path),
      );
      expect(closed.length).toBeGreaterThan(40);
      for (const { name, method, path } of closed) {
        expect([name, (await owner.as(login).send(method, path)).status]).toEqual([name, 403]);
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
