import { randomUUID } from 'node:crypto';
import { group, organization, ownOrganization } from '../builders/organization';
import { logOf } from '../builders/request-lines';
import { Drawbridge } from '../harness/drawbridge';

interface Login {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly tokenType: string;
  readonly expiresIn: number;
  readonly user: { readonly id: string; readonly isOrgAdmin: boolean };
}

describe('Accounts: registration, sign-in and refresh', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);

  const account = (): { organizationName: string; email: string; password: string } => ({
    organizationName: 'Example',
    email: `${randomUUID()}@example.com`,
    password: randomUUID(),
  });

  it('registration signs the new admin in; sign-in ignores the case of the e-mail', async () => {
    const mine = account();
    const registered = await drawbridge.api.post<Login>('/auth/register', mine);
    expect(registered).toMatchObject({
      status: 201,
      body: {
        mfaRequired: false,
        mfaSetupRequired: false,
        passwordExpired: false,
        tokenType: 'Bearer',
        expiresIn: 900,
      },
    });
    const login = await drawbridge.api.post<Login>('/auth/login', {
      email: ` ${mine.email.toUpperCase()} `,
      password: mine.password,
    });
    expect(login).toMatchObject({
      status: 200,
      body: { user: { isOrgAdmin: true, subscriptionTier: 'FREE' } },
    });
  });

  it('a wrong password and an unknown e-mail get the same response', async () => {
    const mine = account();
    await drawbridge.api.expect(201, drawbridge.api.post('/auth/register', mine));
    const wrong = await drawbridge.api.post<{ message: string }>('/auth/login', {
      email: mine.email,
      password: 'no',
    });
    const unknown = await drawbridge.api.post<{ message: string }>('/auth/login', {
      email: account().email,
      password: 'no',
    });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.body.message).toBe(unknown.body.message);
  });

  it('a refresh token works once; reuse much later ends the whole sign-in', async () => {
    const login = await drawbridge.api.expect(201, drawbridge.api.post<Login>('/auth/register', account()));
    const refresh = (refreshToken: string) => drawbridge.api.post<Login>('/auth/refresh', { refreshToken });
    const second = await drawbridge.api.expect(200, refresh(login.refreshToken));
    expect(second.refreshToken).not.toBe(login.refreshToken);
    const twoTabs = await refresh(login.refreshToken);
    expect(twoTabs.status).toBe(200);
    await drawbridge.query(
      `UPDATE refresh_tokens SET used_at = used_at - interval '1 minute' WHERE used_at IS NOT NULL`,
    );
    expect((await refresh(login.refreshToken)).status).toBe(401);
    expect((await refresh(second.refreshToken)).status).toBe(401);
    expect((await refresh(twoTabs.body.refreshToken)).status).toBe(401);
  });

  it('a deactivated user and a revoked key are refused from the next request on', async () => {
    const login = await drawbridge.api.expect(201, drawbridge.api.post<Login>('/auth/register', account()));
    const user = drawbridge.api.as({ token: login.accessToken });
    expect((await user.get('/sessions')).status).toBe(200);
    await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [login.user.id]);
    expect((await user.get('/sessions')).status).toBe(401);

    const key = await org.apiKey(['sessions:read']);
    expect((await key.get('/sessions')).status).toBe(200);
    const [listed] = await org.admin.expect(200, org.admin.get<{ id: string }[]>('/api-keys'));
    expect((await org.admin.delete(`/api-keys/${listed!.id}`)).status).toBe(204);
    expect((await key.get('/sessions')).status).toBe(401);
  });

  it("another organization's objects do not exist", async () => {
    const stranger = await organization(drawbridge, [{ group: group(1) }]);
    const session = await org.started({ ipv4Address: '203.0.113.160' });
    const unmanaged = [
      `/sessions/${session.id}`,
      `/resources/${org.resourceIds[0]}`,
      `/credentials/${org.credentialId}`,
      `/roles/${org.roleId}`,
    ];
    for (const path of unmanaged) {
      expect({ path, status: (await stranger.admin.get(path)).status }).toEqual({ path, status: 404 });
    }
    const attempts = [
      stranger.admin.post(`/sessions/${session.id}/stop`),
      stranger.admin.post(`/sessions/${session.id}/extend`, { additionalHours: 1 }),
      stranger.admin.post(`/resources/${org.resourceIds[0]}/verify`),
      stranger.admin.post(`/roles/${stranger.roleId}/resources/${org.resourceIds[0]}`),
      stranger.admin.post(`/roles/${stranger.roleId}/users/${org.adminId}`),
      stranger.start({ ipv4Address: '203.0.113.161', resourceIds: [org.resourceIds[0]] }),
    ];
    expect((await Promise.all(attempts)).map(({ status }) => status)).toEqual(attempts.map(() => 404));
  });

  it('secrets are never returned', async () => {
    const secret = `secret-${randomUUID()}`;
    const created = await org.admin.post<{ id: string; hints: object }>('/credentials', {
      name: 'Canary',
      provider: 'AWS',
      credentialType: 'ACCESS_KEY',
      credentialData: { accessKeyId: 'AKIACANARY', secretAccessKey: secret },
    });
    expect(created).toMatchObject({ status: 201, body: { hints: { accessKeyId: 'AKIACANARY' } } });
    const answers = [
      created,
      await org.admin.get('/credentials'),
      await org.admin.get(`/credentials/${created.body.id}`),
    ];
    expect(JSON.stringify(answers)).not.toContain(secret);
    const [dump] = await drawbridge.query<{ dump: string }>(
      `SELECT (SELECT jsonb_agg(c)::text FROM credentials c) || (SELECT jsonb_agg(a)::text FROM audit_records a) AS dump`,
    );
    expect(dump!.dump).toContain('Canary');
    expect(dump!.dump).not.toContain(secret);
    expect(await logOf(drawbridge)).not.toContain(secret);
  });

  it('errors have the error shape of their path', async () => {
    const missing = randomUUID();
    const generic = await org.admin.get<Record<string, unknown>>(`/roles/${missing}`);
    expect(Object.keys(generic.body).toSorted()).toEqual(['error', 'message', 'path', 'status', 'timestamp']);
    expect(generic.body).toMatchObject({ status: 404, error: 'Not Found', path: `/api/v1/roles/${missing}` });
    const coded = await org.admin.get<Record<string, unknown>>(`/resources/${missing}`);
    expect(Object.keys(coded.body).toSorted()).toEqual(['error', 'message', 'timestamp']);
    expect(coded.body).toMatchObject({ error: 'RESOURCE_NOT_FOUND' });
    const invalid = await org.start({ durationHours: 0, ipv4Address: '010.0.0.1' });
    expect(invalid).toMatchObject({
      status: 400,
      body: { validationErrors: { durationHours: expect.stringContaining('at least 1') as string } },
    });
    expect((await org.start({ ipv4Address: '010.0.0.1' })).status).toBe(400);
    expect((await org.start({ ipv4Address: '203.0.113.1', durationHours: 25 })).body).toMatchObject({
      message: expect.stringContaining('24') as string,
    });
    expect((await org.admin.send('POST', '/sessions', '{"ipv4Address":')).status).toBe(400);
    expect((await drawbridge.api.get('/nowhere')).status).toBe(404);
    expect((await drawbridge.api.get('/sessions')).status).toBe(401);
  });

  it('the Free plan allows five resources, also with ten concurrent requests', async () => {
    const login = await drawbridge.api.expect(201, drawbridge.api.post<Login>('/auth/register', account()));
    const admin = drawbridge.api.as({ token: login.accessToken });
    const credential = await admin.expect(
      201,
      admin.post<{ id: string }>('/credentials', {
        name: 'AWS',
        provider: 'AWS',
        credentialType: 'ACCESS_KEY',
        credentialData: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'example' },
      }),
    );
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        admin.post<{ error: string }>('/resources', {
          name: `resource-${index}`,
          credentialId: credential.id,
          provider: 'AWS',
          resourceType: 'SECURITY_GROUP',
          resourceIdentifier: group(index),
          region: 'eu-central-1',
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.filter(({ body }) => body.error === 'MAX_RESOURCES_REACHED')).toHaveLength(5);
  });
});
