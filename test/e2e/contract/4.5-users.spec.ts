import { createHash, randomUUID } from 'node:crypto';
import { group, organization, type Organization } from '../../builders/organization';
import { audited, email, founder, newcomer, paid, PASSWORD, type Person } from '../../builders/people';
import type { Answer, ApiClient, Session } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';
import { until } from '../../harness/until';

interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly isOrgAdmin: boolean;
  readonly isActive: boolean;
  readonly mfaEnabled: boolean;
  readonly roleNames: string[];
  readonly lastLoginAt: string | null;
  readonly invitationUrl?: string | null;
}

const FIELDS = [
  'createdAt',
  'email',
  'id',
  'isActive',
  'isOrgAdmin',
  'lastLoginAt',
  'mfaEnabled',
  'name',
  'platformRole',
  'roleNames',
  'updatedAt',
];

describe('4.5 Users', () => {
  let drawbridge: Drawbridge;
  let org: Organization;
  let admin: ApiClient;
  let member: Person;
  let stranger: Person;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({ api: { LOG_LEVEL: 'info' } });
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    admin = org.admin;
    member = await newcomer(drawbridge, admin);
    stranger = await founder(drawbridge);
  });
  afterAll(() => drawbridge.stop());

  const read = (id: string): Promise<User> => admin.expect(200, admin.get<User>(`/users/${id}`));
  const added = (body: object = {}, by = admin): Promise<User> =>
    by.expect(201, by.post<User>('/users', { email: email(), ...body }));
  const login = (account: string, password = PASSWORD): Promise<Answer> =>
    drawbridge.api.post('/auth/login', { email: account, password });
  const refresh = (refreshToken: string): Promise<Answer> =>
    drawbridge.api.post('/auth/refresh', { refreshToken });

  /** A user with a role that opens a resource, a session that is ACTIVE, and a key. */
  const busy = async (address: string): Promise<{ user: Person; session: Session; key: ApiClient }> => {
    const user = await newcomer(drawbridge, admin, { roleIds: [org.roleId] });
    const body = { name: 'k', scopes: ['sessions:read'], userId: user.id };
    const { plainTextKey } = await admin.expect(201, admin.post<{ plainTextKey: string }>('/api-keys', body));
    const session = await user.client.expect(
      200,
      user.client.post<Session>('/sessions', { ipv4Address: address }),
    );
    await org.reaches(session.id, 'ACTIVE');
    return { user, session, key: drawbridge.api.as({ apiKey: plainTextKey }) };
  };
  const endedByAdmin = async (session: Session, address: string): Promise<void> => {
    const now = await org.session(session.id);
    expect(now).toMatchObject({ endedReason: 'ADMIN', endedAt: expect.any(String) as string });
    expect(['EXPIRING', 'CANCELLED']).toContain(now.status);
    await org.reaches(session.id, 'CANCELLED');
    const open = (await drawbridge.cloud.rules()).filter((rule) => rule.address === address);
    expect(open).toEqual([]);
  };
  const stops = async (sessionId: string): Promise<object[]> =>
    (await audited(drawbridge, org.organizationId, 'SESSION_STOPPED')).filter(
      (record) => record.resourceId === sessionId,
    );

  describe('GET /users/{id}', () => {
    it('returns the fields of the contract and no others', async () => {
      const user = await read(member.id);
      expect(Object.keys(user).toSorted()).toEqual(FIELDS);
      expect(user).toMatchObject({
        email: member.email,
        isOrgAdmin: false,
        platformRole: 'CUSTOMER',
        isActive: true,
        mfaEnabled: false,
        roleNames: [],
        lastLoginAt: expect.any(String) as string,
      });
    });
  });

  describe('GET /users', () => {
    it('is a plain array, newest first, with the total and links to the pages beside', async () => {
      const own = await founder(drawbridge);
      const one = await added({}, own.client);
      const two = await added({}, own.client);
      const all = await own.client.get<User[]>('/users');
      expect(all.body.map(({ id }) => id)).toEqual([two.id, one.id, own.id]);
      expect(Object.keys(all.body[0]!).toSorted()).toEqual(FIELDS);
      expect(all.headers.get('X-Total-Count')).toBe('3');
      const second = await own.client.get<User[]>('/users?page=1&size=1');
      expect(second.body.map(({ id }) => id)).toEqual([one.id]);
      expect(second.headers.get('Link')).toMatch(/page=0&size=1>; rel="prev".*page=2&size=1>; rel="next"/);
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

    it.each(['page=-1', 'size=101', 'roleId=x', 'isActive=perhaps'])('refuses %s with 400', async (query) => {
      expect((await admin.get(`/users?${query}`)).status).toBe(400);
    });
  });

  describe('POST /users', () => {
    it('with a password: 201, no invitation, and the user signs in at once', async () => {
      const address = email();
      const user = await added({ email: ` ${address.toUpperCase()} `, name: 'Ada', password: PASSWORD });
      expect(Object.keys(user).toSorted()).toEqual([...FIELDS, 'invitationUrl'].toSorted());
      expect(user).toMatchObject({ email: address, name: 'Ada', isOrgAdmin: false, invitationUrl: null });
      expect((await login(address)).status).toBe(200);
      expect(JSON.stringify(user)).not.toContain(PASSWORD);
    });

    it('without a password: an invitation of 7 days, whose URL ends in the token, goes out by mail', async () => {
      const user = await added();
      const token = user.invitationUrl!.split('/').at(-1)!;
      const [stored] = await drawbridge.query<{ purpose: string; days: number }>(
        `SELECT purpose, round(extract(epoch FROM expires_at - now()) / 86400)::int AS days FROM account_tokens
         WHERE user_id = $1 AND token_hash = $2`,
        [user.id, createHash('sha256').update(token).digest('hex')],
      );
      expect(stored).toEqual({ purpose: 'INVITE', days: 7 });
      await until('the mail is out', () =>
        Promise.resolve(
          drawbridge.apiServer.output
            .split('\n')
            .some((line) => line.includes(user.email) && line.includes(user.invitationUrl!)),
        ),
      );
      expect((await read(user.id)).lastLoginAt).toBeNull();
    });

    it('gives the roles asked for, makes an admin of who is to be one, and names who is not named', async () => {
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
      ['a name that is no text', { email: 'a@example.com', name: 1 }, 'name'],
      ['isOrgAdmin as a text', { email: 'a@example.com', isOrgAdmin: 'yes' }, 'isOrgAdmin'],
      ['a role that is no UUID', { email: 'a@example.com', roleIds: ['x'] }, 'roleIds'],
      ['roles that are no array', { email: 'a@example.com', roleIds: 'x' }, 'roleIds'],
      ['a password that is no text', { email: 'a@example.com', password: 7 }, 'password'],
    ])('refuses %s with 400 and names the field', async (_, body, field) => {
      const answer = await admin.post<{ validationErrors: object }>('/users', body);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.validationErrors)).toEqual([field]);
    });

    it('refuses a password that breaks the organization’s policy with 400', async () => {
      const own = await founder(drawbridge);
      await own.client.expect(200, own.client.patch('/organization/settings', { passwordMinLength: 20 }));
      const answer = await own.client.post('/users', { email: email(), password: PASSWORD });
      expect(answer).toMatchObject({
        status: 400,
        body: { validationErrors: { password: expect.stringContaining('20') as string } },
      });
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

    it('answers 404 for a role that is missing or another organization’s, and adds nobody', async () => {
      const foreign = await stranger.client.expect(
        201,
        stranger.client.post<{ id: string }>('/roles', { name: randomUUID() }),
      );
      for (const roleId of [foreign.id, randomUUID()]) {
        const address = email();
        const answer = await admin.post('/users', { email: address, roleIds: [org.roleId, roleId] });
        expect(answer.status).toBe(404);
        expect((await admin.get(`/users?search=${address}`)).body).toEqual([]);
      }
    });

    it('Free ends at five users with the admin, also when ten are added at once: 400 in the generic shape', async () => {
      const own = await founder(drawbridge);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => own.client.post<object>('/users', { email: email() })),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
      const refused = answers.filter(({ status }) => status === 400);
      expect(refused).toHaveLength(6);
      expect(Object.keys(refused[0]!.body).toSorted()).toEqual([
        'error',
        'message',
        'path',
        'status',
        'timestamp',
      ]);
      await paid(drawbridge, own.organizationId);
      expect((await own.client.post('/users', { email: email() })).status).toBe(201);
      await paid(drawbridge, own.organizationId, 'FREE');
      expect((await own.client.get<User[]>('/users')).body).toHaveLength(6);
      expect((await own.client.post('/users', { email: email() })).status).toBe(400);
    });
  });

  describe('PATCH /users/{id}', () => {
    it('changes only what is given, and ignores what it does not know', async () => {
      const user = await added({ name: 'Old' });
      const asked = { name: 'New', email: email(), platformRole: 'SUPER_ADMIN' };
      const changed = await admin.expect(200, admin.patch<User>(`/users/${user.id}`, asked));
      expect(changed).toMatchObject({
        name: 'New',
        email: user.email,
        isOrgAdmin: false,
        isActive: true,
        platformRole: 'CUSTOMER',
      });
      expect(await audited(drawbridge, org.organizationId, 'USER_UPDATED')).toContainEqual(
        expect.objectContaining({
          resourceId: user.id,
          details: { changed: { name: { from: 'Old', to: 'New' } } },
        }),
      );
    });

    it.each([
      ['name', null],
      ['name', ' '],
      ['isOrgAdmin', null],
      ['isOrgAdmin', 'true'],
      ['isActive', 0],
    ])('refuses %s: %p with 400', async (field, value) => {
      expect(await admin.patch(`/users/${member.id}`, { [field]: value })).toMatchObject({
        status: 400,
        body: { validationErrors: { [field]: expect.any(String) as string } },
      });
    });

    it('the right to administer, given and taken, counts from the next request on', async () => {
      const user = await newcomer(drawbridge, admin);
      expect((await user.client.get('/users')).status).toBe(403);
      await admin.expect(200, admin.patch(`/users/${user.id}`, { isOrgAdmin: true }));
      expect((await user.client.get('/users')).status).toBe(200);
      await admin.expect(200, admin.patch(`/users/${user.id}`, { isOrgAdmin: false }));
      expect((await user.client.get('/users')).status).toBe(403);
    });

    it('deactivating ends the user’s sessions (ADMIN), tokens and keys; reactivating lets the user sign in', async () => {
      const address = '203.0.113.20';
      const { user, session, key } = await busy(address);
      expect((await key.get('/sessions')).status).toBe(200);
      const off = await admin.expect(200, admin.patch<User>(`/users/${user.id}`, { isActive: false }));
      expect(off).toMatchObject({ isActive: false, roleNames: ['Developers'] });
      expect((await user.client.get('/sessions')).status).toBe(401);
      expect((await refresh(user.refreshToken)).status).toBe(401);
      expect((await login(user.email)).status).toBe(401);
      expect((await key.get('/sessions')).status).toBe(401);
      await endedByAdmin(session, address);
      expect(await stops(session.id)).toMatchObject([
        { actorType: 'USER', details: { userId: user.id, ipv4Address: address, reason: 'ADMIN' } },
      ]);
      await admin.expect(200, admin.patch(`/users/${user.id}`, { isActive: true }));
      expect((await login(user.email)).status).toBe(200);
      expect((await refresh(user.refreshToken)).status).toBe(401);
      expect((await key.get('/sessions')).status).toBe(401);
    });
  });

  describe('DELETE /users/{id}', () => {
    it('answers 204 without a body; sessions (ADMIN), tokens, keys and roles of the user end', async () => {
      const address = '203.0.113.21';
      const { user, session, key } = await busy(address);
      const answer = await admin.delete(`/users/${user.id}`);
      expect([answer.status, answer.body]).toEqual([204, null]);
      expect((await admin.get(`/users/${user.id}`)).status).toBe(404);
      expect((await admin.get<User[]>(`/users?search=${user.email}`)).body).toEqual([]);
      expect((await user.client.get('/sessions')).status).toBe(401);
      expect((await refresh(user.refreshToken)).status).toBe(401);
      expect((await login(user.email)).status).toBe(401);
      expect((await key.get('/sessions')).status).toBe(401);
      const role = await admin.expect(200, admin.get<{ userIds: string[] }>(`/roles/${org.roleId}`));
      expect(role.userIds).not.toContain(user.id);
      await endedByAdmin(session, address);
      expect(await stops(session.id)).toHaveLength(1);
      expect(await audited(drawbridge, org.organizationId, 'USER_DELETED')).toContainEqual(
        expect.objectContaining({ resourceId: user.id }),
      );
      const revoked = await audited(drawbridge, org.organizationId, 'API_KEY_REVOKED');
      expect(revoked.length).toBeGreaterThan(0);
    });

    it('leaves the sessions of others alone, also behind the same address', async () => {
      const address = '203.0.113.22';
      const { user } = await busy(address);
      const other = await busy(address);
      await admin.expect(204, admin.delete(`/users/${user.id}`));
      expect(await org.session(other.session.id)).toMatchObject({ status: 'ACTIVE', endedAt: null });
      expect((await drawbridge.cloud.rules()).some((rule) => rule.address === address)).toBe(true);
    });

    it('frees the e-mail; old sessions keep the name', async () => {
      const { user, session } = await busy('203.0.113.23');
      await admin.expect(204, admin.delete(`/users/${user.id}`));
      const again = await newcomer(drawbridge, admin, { email: user.email });
      expect(again.id).not.toBe(user.id);
      expect(await org.session(session.id)).toMatchObject({ userId: user.id, userEmail: user.email });
    });

    it('leaves no session behind that starts at the very moment', async () => {
      for (let round = 0; round < 6; round += 1) {
        const user = await newcomer(drawbridge, admin, { roleIds: [org.roleId] });
        const starts = Array.from({ length: 12 }, (_, index) =>
          user.client.post('/sessions', { ipv4Address: `198.51.100.${round * 12 + index}` }),
        );
        const off =
          round % 2 === 0
            ? admin.delete(`/users/${user.id}`)
            : admin.patch(`/users/${user.id}`, { isActive: false });
        const answers = await Promise.all([...starts, off]);
        expect(answers.at(-1)!.status).toBeLessThan(300);
        for (const { status } of answers.slice(0, -1)) expect([200, 400, 401, 409]).toContain(status);
        const live = await drawbridge.query(
          `SELECT 1 FROM sessions WHERE user_id = $1 AND status IN ('PENDING', 'ACTIVE', 'PARTIAL')`,
          [user.id],
        );
        expect(live).toEqual([]);
      }
    });

    it('of an invited user makes the invitation worthless', async () => {
      const user = await added();
      await admin.expect(204, admin.delete(`/users/${user.id}`));
      const left = await drawbridge.query(
        'SELECT 1 FROM account_tokens WHERE user_id = $1 AND used_at IS NULL',
        [user.id],
      );
      expect(left).toEqual([]);
    });
  });

  describe('the last active administrator', () => {
    it.each([
      ['be deleted', (own: Person) => own.client.delete(`/users/${own.id}`)],
      ['be deactivated', (own: Person) => own.client.patch(`/users/${own.id}`, { isActive: false })],
      ['be demoted', (own: Person) => own.client.patch(`/users/${own.id}`, { isOrgAdmin: false })],
    ])('cannot %s: 400, and stays one', async (_, attempt) => {
      const own = await founder(drawbridge);
      // neither a user nor a deactivated administrator could take over
      await added({}, own.client);
      const second = await added({ isOrgAdmin: true }, own.client);
      await own.client.expect(200, own.client.patch(`/users/${second.id}`, { isActive: false }));
      expect(await attempt(own)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('last active administrator') as string },
      });
      expect((await own.client.get(`/users/${own.id}`)).body).toMatchObject({
        isOrgAdmin: true,
        isActive: true,
      });
    });

    it('may change name, and is nothing special once there is another', async () => {
      const own = await founder(drawbridge);
      expect((await own.client.patch(`/users/${own.id}`, { name: 'Me', isOrgAdmin: true })).status).toBe(200);
      await newcomer(drawbridge, own.client, { isOrgAdmin: true });
      expect((await own.client.delete(`/users/${own.id}`)).status).toBe(204);
      expect((await own.client.get('/users')).status).toBe(401);
    });

    it('is there after every race of two administrators who remove each other', async () => {
      let survivor = await founder(drawbridge);
      let rival = await newcomer(drawbridge, survivor.client, { isOrgAdmin: true });
      await paid(drawbridge, survivor.organizationId);
      const fates = {
        delete: (by: Person, other: Person) => by.client.delete(`/users/${other.id}`),
        deactivate: (by: Person, other: Person) => by.client.patch(`/users/${other.id}`, { isActive: false }),
        demote: (by: Person, other: Person) => by.client.patch(`/users/${other.id}`, { isOrgAdmin: false }),
      };
      // what a round is lost by is made good for the next: demotions cost least and are tried most
      const rounds = (
        [
          ...Array.from({ length: 8 }, () => ['demote', 'demote'] as const),
          ['delete', 'delete'],
          ['delete', 'demote'],
          ['deactivate', 'deactivate'],
          ['deactivate', 'delete'],
        ] as const
      ).toReversed();
      for (const [first, second] of rounds) {
        const answers = await Promise.all([fates[first](survivor, rival), fates[second](rival, survivor)]);
        const won = answers.map(({ status }) => status < 300);
        expect(won.filter(Boolean)).toHaveLength(1);
        // the loser is refused as the last one, or as nobody any more
        expect([400, 401, 403]).toContain(answers[won.indexOf(false)]!.status);
        if (!won[0]) [survivor, rival] = [rival, survivor];
        const admins = await drawbridge.query<{ id: string }>(
          'SELECT id FROM users WHERE organization_id = $1 AND is_org_admin AND is_active',
          [survivor.organizationId],
        );
        expect(admins).toEqual([{ id: survivor.id }]);
        const back = (won[0] ? first : second) === 'demote';
        if (back) {
          await survivor.client.expect(
            200,
            survivor.client.patch(`/users/${rival.id}`, { isOrgAdmin: true }),
          );
        } else rival = await newcomer(drawbridge, survivor.client, { isOrgAdmin: true });
      }
    }, 120_000);
  });

  describe('POST /users/{id}/reset-mfa', () => {
    const withMfa = async (): Promise<User> => {
      const user = await added();
      await drawbridge.query(
        `UPDATE users SET mfa_enabled = true, mfa_sealed_secret = 'sealed', mfa_last_step = 1 WHERE id = $1`,
        [user.id],
      );
      await drawbridge.query(
        `INSERT INTO recovery_codes (user_id, code_hash, organization_id) VALUES ($1, 'hash', $2)`,
        [user.id, org.organizationId],
      );
      return user;
    };

    it('answers 200 with a message, turns MFA off, forgets secret and recovery codes, and is audited', async () => {
      const user = await withMfa();
      expect(await read(user.id)).toMatchObject({ mfaEnabled: true });
      const answer = await admin.post<{ message: string }>(`/users/${user.id}/reset-mfa`);
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.body)).toEqual(['message']);
      expect(await read(user.id)).toMatchObject({ mfaEnabled: false });
      const left = await drawbridge.query(
        `SELECT 1 FROM users WHERE id = $1 AND (mfa_sealed_secret IS NOT NULL OR mfa_last_step IS NOT NULL)
         UNION ALL SELECT 1 FROM recovery_codes WHERE user_id = $1`,
        [user.id],
      );
      expect(left).toEqual([]);
      expect(await audited(drawbridge, org.organizationId, 'MFA_RESET')).toContainEqual(
        expect.objectContaining({ resourceId: user.id }),
      );
    });

    it('refuses with 400 when MFA is not enabled, and counts once when asked twice at once', async () => {
      expect((await admin.post(`/users/${member.id}/reset-mfa`)).status).toBe(400);
      const user = await withMfa();
      const answers = await Promise.all([1, 2].map(() => admin.post(`/users/${user.id}/reset-mfa`)));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    });
  });

  describe('every operation', () => {
    const operations = (id: string): [string, string, object?][] => [
      ['GET', `/users/${id}`],
      ['PATCH', `/users/${id}`, { name: 'x' }],
      ['POST', `/users/${id}/reset-mfa`],
      ['DELETE', `/users/${id}`],
    ];
    const all = (): [string, string, object?][] => [
      ...operations(member.id),
      ['GET', '/users'],
      ['POST', '/users', { email: 'a@example.com' }],
    ];
    const statuses = async (
      client: ApiClient,
      asked: readonly (readonly [string, string, object?])[],
    ): Promise<Set<number>> => {
      const answers = await Promise.all(asked.map(([method, path, body]) => client.send(method, path, body)));
      return new Set(answers.map(({ status }) => status));
    };

    it('is 401 without a token', async () => {
      expect(await statuses(drawbridge.api, all())).toEqual(new Set([401]));
    });

    it('is 401 for an API key', async () => {
      expect(await statuses(await org.apiKey(['sessions:read', 'audit:read']), all())).toEqual(
        new Set([401]),
      );
    });

    it('is 403 for a user who is no admin', async () => {
      expect(await statuses(member.client, all())).toEqual(new Set([403]));
    });

    it('is 404 on another organization’s user, who stays as he is, and on one that is missing', async () => {
      expect(await statuses(admin, operations(stranger.id))).toEqual(new Set([404]));
      expect(await statuses(admin, operations(randomUUID()))).toEqual(new Set([404]));
      expect((await stranger.client.get(`/users/${stranger.id}`)).body).toMatchObject({ isActive: true });
    });

    it('is 400 with an id that is no UUID', async () => {
      expect(await statuses(admin, operations('x'))).toEqual(new Set([400]));
    });
  });
});
