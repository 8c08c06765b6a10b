import { audited, email, founder, PASSWORD } from '../builders/accounts/people';
import { type AdminRun, drawbridgeAdmin } from '../harness/product/admin';
import { Drawbridge } from '../harness/product/drawbridge';

describe('An operator creates an organization', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const create = (...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['create-organization', ...given]);
  const server = (): string => `http://127.0.0.1:${drawbridge.apiServer.port}`;
  const count = async (): Promise<number> =>
    (await drawbridge.query<{ count: number }>('SELECT count(*)::int AS count FROM organizations'))[0]!.count;

  it('whose first administrator chooses a password with the printed link, once', async () => {
    const address = email();
    const run = await create(
      '--name',
      ' Acme Ltd ',
      '--email',
      address.toUpperCase(),
      '--url',
      `${server()}/`,
    );
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const link = run.stdout.trimEnd();
    expect(link).toMatch(new RegExp(`^${server()}/accept-invitation/[\\w-]{43}$`));
    const inviteToken = link.split('/').at(-1);
    const use = drawbridge.api.post('/auth/password-link', { token: inviteToken });
    expect(await use).toMatchObject({ status: 200, body: { organizationName: 'Acme Ltd' } });

    const set = { inviteToken, password: PASSWORD };
    const { status, body } = await drawbridge.api.post('/auth/set-password', set);
    expect(status).toBe(200);
    const { user } = body as { user: Record<string, string | boolean> };
    expect(user).toMatchObject({ email: address, organizationName: 'Acme Ltd', isOrgAdmin: true });
    expect((await drawbridge.api.post('/auth/login', { email: address, password: PASSWORD })).status).toBe(
      200,
    );
    expect((await drawbridge.api.post('/auth/set-password', set)).status).toBe(400);

    const organizationId = String(user['organizationId']);
    expect(await audited(drawbridge, organizationId, 'ORGANIZATION_REGISTERED')).toMatchObject([
      { actorType: 'SYSTEM', resourceId: organizationId },
    ]);
  });

  it.each([
    ['no name', ['--email', 'ada@example.com', '--url', 'https://drawbridge.example.com'], '--name'],
    [
      'a hidden character',
      ['--name', 'Ac\u202Eme', '--email', 'ada@example.com', '--url', 'https://drawbridge.example.com'],
      'visible characters',
    ],
    [
      'no address',
      ['--name', 'Acme', '--email', 'ada', '--url', 'https://drawbridge.example.com'],
      'an e-mail address',
    ],
  ])('%s creates nothing', async (_, given, words) => {
    const before = await count();
    expect(await create(...given)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(words) as string,
    });
    expect(await count()).toBe(before);
  });
});

describe('An operator of the installation gives a platform role', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  it('and takes it back with CUSTOMER', async () => {
    const { email: address, client } = await founder(drawbridge);
    const shown = (): Promise<object> => client.expect(200, client.get<object>('/auth/me'));
    for (const role of ['SUPPORT', 'customer']) {
      const given = ['platform-role', address, '--role', role];
      await drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, given);
      expect(await shown()).toMatchObject({ platformRole: role.toUpperCase() });
    }
    expect((await client.get('/platform/organizations')).status).toBe(403);
  });
});
