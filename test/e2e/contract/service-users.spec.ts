import { mailedLinks, mailedToken, type Login } from '../../builders/accounts/accounts';
import type { User } from '../../builders/contract/answers';
import { ownOrganization } from '../../builders/accounts/organization';
import { audited, founder, newcomer } from '../../builders/accounts/people';
import type { Answer, ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const drawbridge = Drawbridge.shared({ worker: false });
const org = ownOrganization(drawbridge);
let admin: ApiClient;
let names = 0;

beforeAll(async () => {
  ({ admin } = org);
});

const freshName = (): string => `Pipeline ${(names += 1)}`;
const asked = (body: object = {}): object => ({ isService: true, name: freshName(), ...body });
const added = (body: object = {}, by = admin): Promise<User> => by.created<User>('/users', asked(body));

type Refusal = Answer<{ message: string; validationErrors: Record<string, string> }>;

describe('Service users', () => {
  describe('POST /users with isService', () => {
    it('makes a user that is known by its name, without an invitation or a mail', async () => {
      const user = await added({ name: 'Déploy to Staging', roleIds: [org.roleId] });
      expect(user).toMatchObject({
        name: 'Déploy to Staging',
        email: 'deploy-to-staging@service.invalid',
        isService: true,
        isOrgAdmin: false,
        isActive: true,
        mfaEnabled: false,
        lastLoginAt: null,
        roleNames: ['Developers'],
        invitationUrl: null,
      });
      expect(mailedLinks(drawbridge, user.email)).toEqual([]);
      expect(await audited(drawbridge, org.organizationId, 'USER_CREATED')).toContainEqual(
        expect.objectContaining({
          resourceId: user.id,
          details: { isService: true, roleIds: [org.roleId] },
        }),
      );
    });

    it('has no invitation to be sent again', async () => {
      const { id } = await added();
      const { status, body }: Refusal = await admin.post(`/users/${id}/resend-invitation`);
      expect([status, body.message]).toEqual([400, 'A service user has no invitation: it uses API keys']);
    });

    it.each([
      ['without a name', { name: undefined }, 'name'],
      ['with an e-mail address', { email: 'robot@example.com' }, 'email'],
      ['with a password', { password: 'Correct-horse-1' }, 'password'],
      ['as an administrator', { isOrgAdmin: true }, 'isOrgAdmin'],
    ])('%s: 400 that names the field', async (_, body, field) => {
      const { status, body: refusal }: Refusal = await admin.post('/users', asked(body));
      expect([status, Object.keys(refusal.validationErrors)]).toEqual([400, [field]]);
    });

    it('requires a unique name, case-insensitively, until the user is deleted', async () => {
      const { id } = await added({ name: 'Nightly build' });
      const again: Refusal = await admin.post('/users', asked({ name: 'nightly-BUILD' }));
      expect([again.status, Object.keys(again.body.validationErrors)]).toEqual([400, ['name']]);
      await admin.expect(204, admin.delete(`/users/${id}`));
      expect((await added({ name: 'nightly-BUILD' })).id).not.toBe(id);
    });

    it('takes names in other scripts', async () => {
      const [one, two] = [await added({ name: '部署' }), await added({ name: '测试' })];
      expect([one.name, two.name]).toEqual(['部署', '测试']);
      expect(one.email).not.toBe(two.email);
    });
  });

  it('are outside the plan’s maximum of users', async () => {
    const free = await founder(drawbridge);
    await added({}, free.client);
    for (let index = 0; index < 4; index += 1) await newcomer(drawbridge, free.client);
    expect((await free.client.post('/users', { email: 'sixth@example.com' })).status).toBe(400);
    await added({}, free.client);
  });

  it('are distinguishable in lists', async () => {
    const user = await added();
    const listed = async (query: string): Promise<string[]> =>
      (await admin.expect(200, admin.get<User[]>(`/users?${query}`))).map(({ id }) => id);
    expect(await listed('isService=true')).toContain(user.id);
    expect(await listed('isService=true')).not.toContain(org.adminId);
    expect(await listed('isService=false')).not.toContain(user.id);
    expect((await admin.get('/users?isService=maybe')).status).toBe(400);
    expect((await admin.get<User>(`/users/${user.id}`)).body.isService).toBe(true);
  });

  describe('are no accounts', () => {
    it('sign-in answers as for an unknown e-mail address', async () => {
      const { email } = await added();
      const answers = await Promise.all(
        [email, 'nobody@service.invalid'].map((address) =>
          drawbridge.api.post<{ message: string }>('/auth/login', {
            email: address,
            password: 'Correct-horse-1',
          }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([401, 401]);
      expect(answers[0]!.body.message).toBe(answers[1]!.body.message);
    });

    it('a password reset is answered with 204, and no token is created or mailed', async () => {
      const { id, email } = await added();
      expect((await drawbridge.api.post('/auth/forgot-password', { email })).status).toBe(204);
      // mails go out after the answer: that of a later request is there, so this one's would be
      const person = await newcomer(drawbridge, admin);
      await drawbridge.api.post('/auth/forgot-password', { email: person.email });
      await mailedToken(drawbridge, person.email);
      expect(mailedLinks(drawbridge, email)).toEqual([]);
      expect(await drawbridge.query('SELECT 1 FROM account_tokens WHERE user_id = $1', [id])).toEqual([]);
    });

    it('the database refuses a password, a second factor, and the rights of administrators and operators', async () => {
      const { id } = await added();
      for (const change of [
        `password_hash = 'x'`,
        'mfa_enabled = true',
        `mfa_sealed_secret = 'x'`,
        'is_org_admin = true',
        `platform_role = 'SUPPORT'`,
      ]) {
        await expect(drawbridge.query(`UPDATE users SET ${change} WHERE id = $1`, [id])).rejects.toThrow(
          'users_service_check',
        );
      }
    });

    it('none becomes an administrator: 400', async () => {
      const { id } = await added();
      const { status, body }: Refusal = await admin.patch(`/users/${id}`, { isOrgAdmin: true });
      expect([status, Object.keys(body.validationErrors)]).toEqual([400, ['isOrgAdmin']]);
    });
  });

  it('a registration with the address of one signs its own person in', async () => {
    const { email } = await added();
    const account = { organizationName: 'Elsewhere', email, password: 'Correct-horse-1' };
    await drawbridge.api.created('/auth/register', account);
    const login = await drawbridge.api.post<Login>('/auth/login', account);
    expect(login).toMatchObject({ status: 200, body: { user: { email } } });
    expect(login.body.user.organizationId).not.toBe(org.organizationId);
  });
});
