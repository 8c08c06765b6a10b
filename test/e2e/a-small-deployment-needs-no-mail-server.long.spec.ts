import { audited, email, founder, newcomer, PASSWORD, type Person } from '../builders/accounts/people';
import { type AdminRun, drawbridgeAdmin } from '../harness/product/admin';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

const NEW_PASSWORD = 'Another-horse-2';

describe('A small deployment needs no mail server', () => {
  const drawbridge = Drawbridge.own({
    worker: false,
    api: {
      EMBEDDED: 'false',
      REGISTRATION: 'first',
      PAYMENT: 'none',
      PUBLIC_URL: 'https://door.example.com',
    },
  });
  let admin: Person;
  let member: Person;

  beforeAll(async () => {
    admin = await founder(drawbridge);
    member = await newcomer(drawbridge, admin.client);
  });

  const linkFor = (id: string, by = admin): Promise<Answer<{ passwordResetUrl: string }>> =>
    by.client.post(`/users/${id}/password-link`);
  const passwordLink = (...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['password-link', ...given]);
  const reset = (link: string, newPassword = NEW_PASSWORD): Promise<Answer> =>
    drawbridge.api.post('/auth/reset-password', { token: link.split('/').at(-1), newPassword });

  it('the API says at start, in one line, that mail is off and who passes links on', () => {
    const lines = drawbridge.apiServer.output.split('\n').filter((line) => line.includes('SMTP_URL'));
    expect(lines).toEqual([expect.stringContaining('invitation')]);
  });

  it('an invitation shows its link to the administrator alone, and nothing of it is logged', async () => {
    const invited = await admin.client.created<{ invitationUrl: string }>('/users', { email: email() });
    const inviteToken = invited.invitationUrl.split('/').at(-1)!;
    const accepted = await drawbridge.api.post('/auth/set-password', { inviteToken, password: PASSWORD });
    expect(accepted.status).toBe(200);
    expect(drawbridge.apiServer.output).not.toContain(inviteToken);
    expect(drawbridge.apiServer.output).not.toContain('could not be mailed');
  });

  it('who forgot a password is told to ask an administrator, the same for any address', async () => {
    for (const address of [member.email, email()])
      expect(await drawbridge.api.post('/auth/forgot-password', { email: address })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('administrator') as string },
      });
    expect(await audited(drawbridge, admin.organizationId, 'PASSWORD_RESET_REQUESTED')).toEqual([]);
  });

  it('an administrator gets a link for a user, once, which is on record', async () => {
    const { status, body } = await linkFor(member.id);
    expect(status).toBe(200);
    expect(body.passwordResetUrl).toMatch(/^https:\/\/door\.example\.com\/reset-password\/[\w-]{43}$/);
    expect(await audited(drawbridge, admin.organizationId, 'PASSWORD_RESET_REQUESTED')).toMatchObject([
      { actorType: 'USER', actorEmail: admin.email, resourceId: member.id },
    ]);
    expect((await reset(body.passwordResetUrl)).status).toBe(200);
    expect((await reset(body.passwordResetUrl)).status).toBe(400);
    const login = { email: member.email, password: NEW_PASSWORD };
    expect((await drawbridge.api.post('/auth/login', login)).status).toBe(200);
  });

  it('a link that has expired is replaced by an administrator, not by mail', async () => {
    const { status, body } = await drawbridge.api.post('/auth/password-link', { token: 'nonsense' });
    expect(status).toBe(404);
    expect(body).toMatchObject({
      message: expect.stringMatching(/ask an administrator.* another link$/) as string,
    });
  });

  it('no link makes anybody more than an administrator of the organization', async () => {
    const [own, other] = [await newcomer(drawbridge, admin.client), await newcomer(drawbridge, admin.client)];
    expect((await linkFor(member.id, own)).status).toBe(403);
    expect((await linkFor(admin.id)).status).toBe(403);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPPORT' WHERE id = $1`, [other.id]);
    expect(await linkFor(other.id)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('drawbridge-admin password-link') as string },
    });
    const invited = await admin.client.created<{ id: string }>('/users', { email: email() });
    expect((await linkFor(invited.id)).status).toBe(400);
  });

  it('the last administrator gets a link from an operator, for the one account that is meant', async () => {
    const url = ['--url', 'https://door.example.com'];
    const elsewhere = ['--name', 'Elsewhere', '--email', admin.email, ...url];
    await drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['create-organization', ...elsewhere]);
    const vague = await passwordLink(admin.email, ...url);
    expect(vague).toMatchObject({ code: 2, stdout: '' });
    expect(vague.stderr).toContain(admin.organizationSlug);
    const { code, stdout } = await passwordLink(
      admin.email,
      '--organization',
      admin.organizationSlug,
      ...url,
    );
    expect(code).toBe(0);
    const { status, body } = await reset(stdout.trim());
    expect(status).toBe(200);
    expect(body).toMatchObject({ user: { organizationId: admin.organizationId } });
    const records = await audited(drawbridge, admin.organizationId, 'PASSWORD_RESET_REQUESTED');
    expect(records.at(-1)).toMatchObject({ actorType: 'SYSTEM', resourceId: admin.id });
  });
});
