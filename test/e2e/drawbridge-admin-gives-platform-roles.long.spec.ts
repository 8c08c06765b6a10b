import { email, founder, PASSWORD, type Person } from '../builders/accounts/people';
import { drawbridgeAdmin, type AdminRun } from '../harness/product/admin';
import { Drawbridge } from '../harness/product/drawbridge';

describe('drawbridge-admin platform-role', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const platformRole = (...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['platform-role', ...given]);

  const roleOf = async ({ client }: Person): Promise<string> =>
    (await client.expect(200, client.get<{ platformRole: string }>('/auth/me'))).platformRole;

  it('takes the role back with CUSTOMER', async () => {
    const person = await founder(drawbridge);
    await platformRole(person.email, '--role', 'SUPPORT');
    expect(await roleOf(person)).toBe('SUPPORT');
    await platformRole(person.email, '--role', 'customer');
    expect(await roleOf(person)).toBe('CUSTOMER');
    expect((await person.client.get('/platform/organizations')).status).toBe(403);
  });

  it('asks which organization when several know the e-mail', async () => {
    const account = { email: email(), password: PASSWORD };
    const slugs: string[] = [];
    for (const organizationName of ['First', 'Second']) {
      const { body } = await drawbridge.api.post<{ user: { organizationSlug: string } }>('/auth/register', {
        ...account,
        organizationName,
      });
      slugs.push(body.user.organizationSlug);
    }
    const unclear = await platformRole(account.email);
    expect(unclear.code).toBe(2);
    for (const slug of slugs) expect(unclear.stderr).toContain(slug);
    expect(await platformRole(account.email, '--organization', slugs[1]!)).toMatchObject({ code: 0 });
    const roles = await drawbridge.query<{ platform_role: string }>(
      'SELECT platform_role FROM users WHERE email = $1 ORDER BY created_at',
      [account.email],
    );
    expect(roles.map((row) => row.platform_role)).toEqual(['CUSTOMER', 'SUPER_ADMIN']);
  });

  it.each([
    ['nobody', []],
    ['two people', ['a@example.com', 'b@example.com']],
    ['somebody unknown', ['nobody@example.com']],
    ['an unknown role', ['a@example.com', '--role', 'KING']],
    ['an unknown option', ['a@example.com', '--king']],
  ])('refuses %s with a message and no stack trace', async (_, given) => {
    const { code, stderr } = await platformRole(...given);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .+\n\(--help shows the options and examples\)\n$/);
    expect(stderr).not.toMatch(/\n +at /);
  });

  it('explains itself', async () => {
    const { code, stdout } = await platformRole('--help');
    expect(code).toBe(0);
    for (const word of ['--organization', '--role', 'SUPER_ADMIN', 'DATABASE_URL'])
      expect(stdout).toContain(word);
  });
});
