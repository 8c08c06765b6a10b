import { createHash, randomUUID } from 'node:crypto';
import type { User } from '../../builders/contract/answers';
import { ownOrganization } from '../../builders/accounts/organization';
import { audited, email, founder, paid, PASSWORD, type Person } from '../../builders/accounts/people';
import type { Answer, ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.5 Users', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let admin: ApiClient;
  let stranger: Person;

  beforeAll(async () => {
    admin = org.admin;
    stranger = await founder(drawbridge);
  });

  const added = (body: object = {}, by = admin): Promise<User> =>
    by.created<User>('/users', { email: email(), ...body });
  const login = (account: string, password = PASSWORD): Promise<Answer> =>
    drawbridge.api.post('/auth/login', { email: account, password });

  it('an address, a name and a password are the same however they are written', async () => {
    const local = `joerg-${randomUUID().slice(0, 8)}`;
    const typed = `${local}@bu\u0308cher.example`;
    const form = `${local}@xn--bcher-kva.example`;
    const password = 'Gro\u0308\u00DFe von 3 Katzen!';
    const user = await added({ email: typed, name: 'Jo\u0308rg', password });
    expect(user).toMatchObject({ email: form, name: 'J\u00F6rg' });
    for (const address of [typed.toUpperCase(), form])
      expect((await admin.post('/users', { email: address })).status).toBe(400);
    for (const secret of [password, password.normalize('NFC')])
      expect((await login(typed.normalize('NFC'), secret)).status).toBe(200);
    const longest = (length: number): object => ({ email: email(), name: 'o\u0308'.repeat(length) });
    expect((await added(longest(200))).name).toHaveLength(200);
    expect((await admin.post('/users', longest(201))).status).toBe(400);
  });

  describe('GET /users', () => {
    it('lists the newest first', async () => {
      const own = await founder(drawbridge);
      const [one, two] = [await added({}, own.client), await added({}, own.client)];
      const all = await own.client.get<User[]>('/users');
      expect(all.body.map(({ id }) => id)).toEqual([two.id, one.id, own.id]);
    });

    it('searches e-mail and name in any case, takes wildcards literally, filters by role and activity', async () => {
      const name = `Grace ${randomUUID()}`;
      const found = await added({ name, roleIds: [org.roleId] });
      const ids = async (query: Record<string, string>): Promise<string[]> => {
        const path = `/users?${new URLSearchParams(query)}`;
        return (await admin.expect(200, admin.get<User[]>(path))).map(({ id }) => id);
      };
      expect(await ids({ search: name.toUpperCase() })).toEqual([found.id]);
      expect(await ids({ search: found.email.slice(2, 20).toUpperCase() })).toEqual([found.id]);
      expect(await ids({ search: '%' })).toEqual([]);
      expect(await ids({ search: name, roleId: org.roleId })).toEqual([found.id]);
      expect(await ids({ search: name, roleId: randomUUID() })).toEqual([]);
      expect(await ids({ search: name, isActive: 'false' })).toEqual([]);
      await admin.expect(200, admin.patch(`/users/${found.id}`, { isActive: false }));
      expect(await ids({ search: name, isActive: 'false' })).toEqual([found.id]);
      expect(await ids({ search: name, isActive: 'true' })).toEqual([]);
      expect(await ids({ search: stranger.email })).toEqual([]);
    });

    it.each(['roleId=x', 'isActive=perhaps'])('refuses %s with 400', async (query) => {
      expect((await admin.get(`/users?${query}`)).status).toBe(400);
    });
  });

  describe('POST /users', () => {
    it('with a password: 201, no invitation, and the user signs in at once', async () => {
      const address = email();
      const user = await added({ email: ` ${address.toUpperCase()} `, name: 'Ada', password: PASSWORD });
      expect(user).toMatchObject({ email: address, name: 'Ada', isOrgAdmin: false, invitationUrl: null });
      expect((await login(address)).status).toBe(200);
      expect(JSON.stringify(user)).not.toContain(PASSWORD);
    });

    it('without a password: makes an invitation valid for 7 days, whose URL ends in the token', async () => {
      const user = await added();
      const token = user.invitationUrl!.split('/').at(-1)!;
      const [stored] = await drawbridge.query<{ purpose: string; days: number }>(
        `SELECT purpose, round(extract(epoch FROM expires_at - now()) / 86400)::int AS days FROM account_tokens
         WHERE user_id = $1 AND token_hash = $2`,
        [user.id, createHash('sha256').update(token).digest('hex')],
      );
      expect(stored).toEqual({ purpose: 'INVITE', days: 7 });
      expect(user.lastLoginAt).toBeNull();
    });

    it('assigns the requested roles and admin rights, and derives a missing name', async () => {
      const address = email();
      const user = await added({ email: address, isOrgAdmin: true, roleIds: [org.roleId, org.roleId] });
      expect(user).toMatchObject({
        isOrgAdmin: true,
        roleNames: ['Developers'],
        name: address.split('@')[0],
      });
      expect(await audited(drawbridge, org.organizationId, 'USER_CREATED')).toContainEqual(
        expect.objectContaining({
          resourceId: user.id,
          details: { isOrgAdmin: true, roleIds: [org.roleId], invited: true },
        }),
      );
    });

    it('null for what may be left out is the same as leaving it out', async () => {
      const user = await added({ name: null, isOrgAdmin: null, roleIds: null, password: null });
      expect(user).toMatchObject({ isOrgAdmin: false, invitationUrl: expect.any(String) as string });
    });

    it.each([
      ['no e-mail', {}, 'email'],
      ['an e-mail that is none', { email: 'ada' }, 'email'],
      ['a role that is no UUID', { email: 'a@example.com', roleIds: ['x'] }, 'roleIds'],
    ])('refuses %s with 400 and names the field', async (_, body, field) => {
      const answer = await admin.post<{ validationErrors: object }>('/users', body);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.validationErrors)).toEqual([field]);
    });

    it('refuses a known e-mail with 400, also when several ask at once; other organizations may have it', async () => {
      const address = email();
      const answers = await Promise.all([1, 2, 3].map(() => admin.post('/users', { email: address })));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400]);
      expect(answers.find(({ status }) => status === 400)!.body).toMatchObject({
        validationErrors: { email: expect.any(String) as string },
      });
      expect((await stranger.client.post('/users', { email: address })).status).toBe(201);
    });

    it('answers 404 for a role that is missing or another organization’s, and adds no user', async () => {
      const foreign = await stranger.client.created<{ id: string }>('/roles', { name: randomUUID() });
      for (const roleId of [foreign.id, randomUUID()]) {
        const address = email();
        const answer = await admin.post('/users', { email: address, roleIds: [org.roleId, roleId] });
        expect(answer.status).toBe(404);
        expect((await admin.get(`/users?search=${address}`)).body).toEqual([]);
      }
    });

    it('Free ends at five users with the admin, also when ten are added at once: 400', async () => {
      const own = await founder(drawbridge);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => own.client.post<{ message: string }>('/users', { email: email() })),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
      const refused = answers.filter(({ status }) => status === 400);
      expect(refused).toHaveLength(6);
      expect(refused[0]!.body.message).toMatch(
        /room for 5 users, invited and deactivated ones included.*\(drawbridge billing subscribe\)\. Payment is a sandbox here/,
      );
      await paid(drawbridge, own.organizationId);
      expect((await own.client.post('/users', { email: email() })).status).toBe(201);
      await paid(drawbridge, own.organizationId, 'FREE');
      expect((await own.client.get<User[]>('/users')).body).toHaveLength(6);
      expect((await own.client.post('/users', { email: email() })).status).toBe(400);
    });
  });
});
