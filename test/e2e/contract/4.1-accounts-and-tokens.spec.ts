import { randomUUID } from 'node:crypto';
import { accountOwner, type ApiFailure, accountCalls } from '../../builders/accounts/accounts';
import { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const text = expect.any(String) as string;
const address = (): string => `${randomUUID()}@example.com`;

describe('4.1 Accounts and tokens', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const { post } = accountCalls(() => drawbridge);

  describe('POST /auth/register', () => {
    const given = (): Record<string, unknown> => ({
      organizationName: 'Example Ltd',
      email: address(),
      password: 'longer than eight',
    });

    it('creates an organization and its admin and signs the admin in: 201 with the login answer', async () => {
      const { status, body } = await post('register', given());
      expect(status).toBe(201);
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

    it('checks of the password nothing but its length, 8 to 128', async () => {
      expect((await post('register', { ...given(), password: 'aaaaaaaa' })).status).toBe(201);
    });
  });

  describe('POST /auth/login', () => {
    it('answers with tokens that work; the e-mail is trimmed and compared without case', async () => {
      const owner = await accountOwner(drawbridge);
      const { status, body } = await owner.login({ email: `  ${owner.email.toUpperCase()} ` });
      expect([status, body.user.id]).toEqual([200, owner.id]);
      expect((await owner.as(body).get('/sessions')).status).toBe(200);
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

    it('requires organizationSlug when e-mail and password fit several organizations: 400 names them, and no other', async () => {
      const [email, password] = [address(), randomUUID()];
      const fitting = [
        await accountOwner(drawbridge, { email, password }),
        await accountOwner(drawbridge, { email, password }),
      ];
      const other = await accountOwner(drawbridge, { email });
      const inactive = await accountOwner(drawbridge, { email, password });
      await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [inactive.id]);
      const slugOf = (owner: typeof other): string => owner.first.user.organizationSlug;
      const { status, body } = await fitting[0]!.login<ApiFailure>();
      const words = `must be one of ${fitting.map(slugOf).join(', ')}`;
      expect([status, body.validationErrors]).toEqual([400, { organizationSlug: words }]);
      expect(body.message).toBe(`Several organizations know this account: organizationSlug ${words}`);
      expect((await fitting[0]!.login<ApiFailure>({ password: 'wrong' })).body.message).not.toContain('slug');
      expect((await fitting[0]!.login({ organizationSlug: 'elsewhere' })).status).toBe(401);
    });

    it('wants organizationSlug of the owner of the newest of more than three organizations, as of everybody who fails', async () => {
      const email = address();
      for (let stranger = 0; stranger < 3; stranger += 1) await accountOwner(drawbridge, { email });
      const owner = await accountOwner(drawbridge, { email });
      const stranger = await post<ApiFailure>('login', { email: address(), password: 'wrong' });
      const refused = await owner.login<ApiFailure>();
      expect([refused.status, refused.body.message]).toEqual([401, stranger.body.message]);
      expect(refused.body.message).toContain('send organizationSlug');
      const { organizationSlug, id } = owner.first.user;
      expect(await owner.login({ organizationSlug })).toMatchObject({ status: 200, body: { user: { id } } });
    });

    it('requires no organizationSlug when each organization has a different password', async () => {
      const email = address();
      const first = await accountOwner(drawbridge, { email });
      const second = await accountOwner(drawbridge, { email });
      expect(await first.login()).toMatchObject({ status: 200, body: { user: { id: first.id } } });
      expect(await second.login()).toMatchObject({ status: 200, body: { user: { id: second.id } } });
    });

    it('requires no organizationSlug for an account that is inactive, and records that it was tried', async () => {
      const [email, password] = [address(), randomUUID()];
      const active = await accountOwner(drawbridge, { email, password });
      const inactive = await accountOwner(drawbridge, { email, password });
      await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [inactive.id]);
      expect(await inactive.login()).toMatchObject({ status: 200, body: { user: { id: active.id } } });
      await inactive.login({ organizationSlug: inactive.first.user.organizationSlug });
      expect(await inactive.audited('USER_LOGIN')).toMatchObject([{ result: 'FAILURE' }]);
    });

    it('does not see deleted users', async () => {
      const owner = await accountOwner(drawbridge);
      await drawbridge.query('UPDATE users SET is_active = false, deleted_at = now() WHERE id = $1', [
        owner.id,
      ]);
      expect((await owner.login()).status).toBe(401);
      expect(await owner.audited('USER_LOGIN')).toEqual([]);
    });

    it('hashes the password again when the configured cost has changed', async () => {
      const { email, password, id } = await accountOwner(drawbridge);
      const { port } = await drawbridge.startApi({ PASSWORD_HASH_COST: '5' });
      const dearer = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
      const statusAndHash = async (tried: string): Promise<[number, string]> => {
        const { status } = await dearer.post('/auth/login', { email, password: tried });
        const [user] = await drawbridge.query<{ hash: string }>(
          'SELECT password_hash AS hash FROM users WHERE id = $1',
          [id],
        );
        return [status, user!.hash];
      };
      expect(await statusAndHash('wrong')).toEqual([401, expect.stringMatching(/^\$2b\$04\$/)]);
      const renewed = await statusAndHash(password);
      expect(renewed).toEqual([200, expect.stringMatching(/^\$2b\$05\$/)]);
      expect(await statusAndHash(password)).toEqual(renewed);
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
});
