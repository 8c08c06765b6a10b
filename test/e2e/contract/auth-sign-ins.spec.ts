import { accountCalls, accountOwner, type AccountOwner, type Login } from '../../builders/accounts/accounts';
import { auditRecords } from '../../builders/audit/audit-trail';
import { newcomer, PASSWORD } from '../../builders/accounts/people';
import { Drawbridge } from '../../harness/product/drawbridge';

interface SignIn {
  readonly id: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly current: boolean;
}

describe('Accounts and tokens: where one is signed in', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const { refresh } = accountCalls(() => drawbridge);
  const listed = (owner: AccountOwner, login: Login): Promise<SignIn[]> =>
    owner.as(login).expect(200, owner.as(login).get<SignIn[]>('/auth/sign-ins'));
  const currentOf = async (owner: AccountOwner, login: Login): Promise<SignIn> =>
    (await listed(owner, login)).find(({ current }) => current)!;

  it('are listed newest first: since when, last used, until when, from where, with what, and which is this one', async () => {
    const owner = await accountOwner(drawbridge);
    const { email, password } = owner;
    const headers = { 'User-Agent': 'test/1.0' };
    await drawbridge.api.post('/auth/login', { email, password }, headers);
    const list = await listed(owner, owner.first);
    expect(list.map(({ current, userAgent }) => [current, userAgent])).toEqual([
      [false, 'test/1.0'],
      [true, expect.any(String)],
    ]);
    for (const signIn of list) {
      expect(signIn.ipAddress).toBe('127.0.0.1');
      expect(Date.parse(signIn.expiresAt) - Date.parse(signIn.createdAt)).toBeCloseTo(7 * 86_400_000, -3);
    }
  });

  it('a refresh moves its last use and keeps it one sign-in that began when it did', async () => {
    const owner = await accountOwner(drawbridge);
    const before = await currentOf(owner, owner.first);
    const next = (await refresh(owner.first)).body;
    const list = await listed(owner, next);
    expect(list).toHaveLength(1);
    expect(list[0]).toMatchObject({ id: before.id, createdAt: before.createdAt, current: true });
    expect(Date.parse(list[0]!.lastUsedAt)).toBeGreaterThan(Date.parse(before.lastUsedAt));
  });

  it('one that is ended is gone from the list, and its access and refresh tokens stop at once', async () => {
    const owner = await accountOwner(drawbridge);
    const other = await owner.loggedIn();
    const { id } = await currentOf(owner, other);
    expect((await owner.client.delete(`/auth/sign-ins/${id}`)).status).toBe(204);
    expect((await owner.as(other).get('/auth/me')).status).toBe(401);
    expect((await refresh(other)).status).toBe(401);
    expect(await listed(owner, owner.first)).toHaveLength(1);
    expect((await owner.client.delete(`/auth/sign-ins/${id}`)).status).toBe(404);
    expect(await owner.audited('SIGN_IN_ENDED')).toMatchObject([
      { result: 'SUCCESS', actorEmail: owner.email },
    ]);
  });

  it('all of another user end by an administrator, who ends nothing else', async () => {
    const owner = await accountOwner(drawbridge);
    const person = await newcomer(drawbridge, owner.client);
    const signIns = (id: string): Promise<number> =>
      owner.client.delete(`/users/${id}/sign-ins`).then(({ status }) => status);
    expect((await person.client.get('/auth/me')).status).toBe(200);
    expect([await signIns(person.id), await signIns(person.id)]).toEqual([204, 204]);
    expect((await person.client.get('/auth/me')).status).toBe(401);
    expect((await owner.client.get('/auth/me')).status).toBe(200);
    expect(await auditRecords(owner.client, '?eventType=SIGN_IN_ENDED')).toMatchObject([
      { resourceId: person.id, details: { ended: 0 } },
      { resourceId: person.id, details: { ended: 1 } },
    ]);
    const again = await drawbridge.api.post('/auth/login', { email: person.email, password: PASSWORD });
    expect(again.status).toBe(200);
    expect(await signIns('00000000-0000-4000-8000-000000000000')).toBe(404);
  });

  it('those that ended by themselves are not listed', async () => {
    const owner = await accountOwner(drawbridge);
    const [out, over] = [await owner.loggedIn(), await owner.loggedIn()];
    await drawbridge.api.post('/auth/logout', { refreshToken: out.refreshToken });
    await drawbridge.query(`UPDATE refresh_tokens SET expires_at = now() WHERE family_id = $1`, [
      (await currentOf(owner, over)).id,
    ]);
    expect(await listed(owner, owner.first)).toHaveLength(1);
  });

  it('another user’s is 404, also within the organization, and stays', async () => {
    const owner = await accountOwner(drawbridge);
    const stranger = await accountOwner(drawbridge);
    const { id } = await currentOf(owner, owner.first);
    expect((await stranger.client.delete(`/auth/sign-ins/${id}`)).status).toBe(404);
    const [colleague] = await drawbridge.query<{ id: string }>(
      `INSERT INTO users (organization_id, email, name) VALUES ($1, 'colleague@example.com', 'C') RETURNING id`,
      [owner.organizationId],
    );
    const [theirs] = await drawbridge.query<{ id: string }>(
      `INSERT INTO refresh_tokens (organization_id, user_id, family_id, token_hash, signed_in_at, expires_at)
       VALUES ($1, $2, gen_random_uuid(), gen_random_uuid(), now(), now() + interval '1 day') RETURNING family_id AS id`,
      [owner.organizationId, colleague!.id],
    );
    expect((await owner.client.delete(`/auth/sign-ins/${theirs!.id}`)).status).toBe(404);
    expect((await owner.client.get('/auth/me')).status).toBe(200);
  });

  it('an answer with a token or a secret is not stored on the way', async () => {
    const owner = await accountOwner(drawbridge);
    const { email, password } = owner;
    const { api } = drawbridge;
    const login = await api.post<Login>('/auth/login', { email, password });
    const key = await owner.client.post('/api-keys', { name: 'ci', scopes: ['agent:connect'] });
    const answers = [
      login,
      await api.post('/auth/refresh', { refreshToken: login.body.refreshToken }),
      key,
      await owner.client.post('/mfa/setup'),
      await owner.client.post('/users', { email: 'invited@example.com' }),
      await api.post('/auth/login', { email, password: 'wrong' }),
    ];
    expect(answers.map(({ headers }) => headers.get('Cache-Control'))).toEqual(answers.map(() => 'no-store'));
  });
});
