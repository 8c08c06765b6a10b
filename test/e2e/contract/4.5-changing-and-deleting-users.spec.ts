import { accountOwner } from '../../builders/accounts/accounts';
import type { User } from '../../builders/contract/answers';
import { ownOrganization } from '../../builders/accounts/organization';
import {
  audited,
  email,
  founder,
  newcomer,
  paid,
  PASSWORD,
  type Person,
} from '../../builders/accounts/people';
import type { Answer, ApiClient, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.5 Users: changing and deleting them', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  let admin: ApiClient;
  let member: Person;

  beforeAll(async () => {
    admin = org.admin;
    member = await newcomer(drawbridge, admin);
  });

  const read = (id: string): Promise<User> => admin.expect(200, admin.get<User>(`/users/${id}`));
  const added = (body: object = {}, by = admin): Promise<User> =>
    by.created<User>('/users', { email: email(), ...body });
  const login = (account: string, password = PASSWORD): Promise<Answer> =>
    drawbridge.api.post('/auth/login', { email: account, password });
  const refresh = (refreshToken: string): Promise<Answer> =>
    drawbridge.api.post('/auth/refresh', { refreshToken });

  /** A user with a role that opens a resource, a session that is ACTIVE, and a key. */
  const busy = async (address: string): Promise<{ user: Person; session: Session; key: ApiClient }> => {
    const user = await newcomer(drawbridge, admin, { roleIds: [org.roleId] });
    const body = { name: 'k', scopes: ['sessions:read'], userId: user.id };
    const { plainTextKey } = await admin.created<{ plainTextKey: string }>('/api-keys', body);
    const session = await user.client.posted<Session>('/sessions', { ipv4Address: address });
    await org.reaches(session.id, 'ACTIVE');
    return { user, session, key: drawbridge.api.as({ apiKey: plainTextKey }) };
  };
  const isOut = async (user: Person, key: ApiClient): Promise<void> => {
    const answers = [
      await user.client.get('/sessions'),
      await refresh(user.refreshToken),
      await login(user.email),
      await key.get('/sessions'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
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

  it.each(['roles', 'roleNames'])('%s are refused by name, unless they change nothing', async (field) => {
    const roles = { [field]: ['Developers'] };
    const created = await admin.post<{ message: string }>('/users', { email: email(), ...roles });
    expect(created).toMatchObject({
      status: 400,
      body: { message: `${field} cannot be given: use roleIds` },
    });
    const user = await added({ [field]: [] });
    const patched = await admin.patch<{ message: string }>(`/users/${user.id}`, { name: 'New', ...roles });
    expect(patched.status).toBe(400);
    expect(patched.body.message).toMatch(`${field} cannot be changed here: use PATCH /roles/{id}`);
    expect((await admin.patch(`/users/${user.id}`, await read(user.id))).status).toBe(200);
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
      await isOut(user, key);
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
      await isOut(user, key);
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

    it('keeps the sessions of other users, also on the same address', async () => {
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

    it('refuses with 403 to reset the caller’s own MFA, which requires a code; each attempt is audited', async () => {
      const owner = await accountOwner(drawbridge);
      const reset = () => owner.client.post(`/users/${owner.id}/reset-mfa`);
      expect((await reset()).status).toBe(400);
      await owner.turnMfaOn();
      expect((await reset()).status).toBe(403);
      const { body } = await owner.client.get<{ mfaEnabled: boolean }>('/auth/me');
      expect(body.mfaEnabled).toBe(true);
      // the one without MFA, too
      expect(await owner.audited('MFA_RESET')).toMatchObject([{ result: 'FAILURE' }, { result: 'FAILURE' }]);
    });

    it('refuses with 400 when MFA is not enabled, and counts once when asked twice at once', async () => {
      expect((await admin.post(`/users/${member.id}/reset-mfa`)).status).toBe(400);
      const user = await withMfa();
      const answers = await Promise.all([1, 2].map(() => admin.post(`/users/${user.id}/reset-mfa`)));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
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

    it('remains after every race of two administrators who remove each other', async () => {
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
        // the loser is refused as the last administrator, or because it was removed already
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
    });
  });
});
