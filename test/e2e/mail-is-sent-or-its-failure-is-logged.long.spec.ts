import { randomUUID } from 'node:crypto';
import { mailFailure, SmtpMailer } from '#mail';
import { accountOwner } from '../builders/accounts/accounts';
import { newcomer } from '../builders/accounts/people';
import { ApiClient, type Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { Inbox, unwrapped } from '../harness/receivers/inbox';
import { until } from '../harness/until';

describe('Mail is sent, or its failure is logged', () => {
  let inbox: Inbox;
  let drawbridge: Drawbridge;

  beforeAll(async () => {
    inbox = await Inbox.open();
    drawbridge = await Drawbridge.start({
      worker: false,
      api: {
        SMTP_URL: inbox.url,
        MAIL_FROM: 'Drawbridge <door@example.com>',
        PUBLIC_URL: 'https://door.example.com/',
        EMBEDDED: 'false',
        SMTP_REQUIRE_TLS: 'false',
        PAYMENT: 'sandbox',
      },
    });
  });
  afterAll(async () => {
    await drawbridge.stop();
    await inbox.close();
  });

  it('a password reset is sent through SMTP, with a link to PUBLIC_URL that ends in a valid token', async () => {
    const owner = await accountOwner(drawbridge);
    const { email } = owner;
    await drawbridge.api.expect(204, drawbridge.api.post('/auth/forgot-password', { email }));
    const mail = await until('the mail', async () => inbox.mails.find((text) => text.includes(email)));
    expect(mail).toContain('From: Drawbridge <door@example.com>');
    expect(mail).toContain(`To: ${email}`);
    expect(mail).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    // a container's own name is none that every server takes
    expect(inbox.clients.at(-1)).toBe('example.com');
    const link = /https:\/\/door\.example\.com\/reset-password\/([\w-]+)/.exec(unwrapped(mail));
    const answer = await drawbridge.api.post('/auth/reset-password', {
      token: link![1],
      newPassword: 'A fresh 1 this time',
    });
    expect(answer.status).toBe(200);
    expect(drawbridge.apiServer.output).not.toContain(link![1]);
  });

  it('an invitation says who invites to what, for people', async () => {
    const owner = await accountOwner(drawbridge);
    const email = `${randomUUID()}@example.com`;
    await owner.client.created('/users', { email, name: 'Grace' });
    const mail = await until('the mail', async () => inbox.to(email)[0]);
    const { organizationSlug } = owner.first.user;
    expect(mail).toMatch(/^Subject: \S+ invites you to Example on\s+Drawbridge$/m);
    expect(mail).toContain(`invites you to Example (${organizationSlug}) on Drawbridge, which opens network`);
    // whoever registers here has proven no address
    expect(mail).not.toContain(owner.email);
    expect(mail).not.toMatch(/POST|curl|inviteToken/);
  });

  it('an administrator passes on a link for a new password only with the second factor', async () => {
    const owner = await accountOwner(drawbridge);
    const { client } = owner;
    const { id } = await newcomer(drawbridge, client);
    const link = (of = id): Promise<Answer<{ passwordResetUrl: string; error: string }>> =>
      client.post(`/users/${of}/password-link`);
    expect(await link()).toMatchObject({
      status: 403,
      body: { message: expect.stringMatching(/POST \/mfa\/setup.*drawbridge-admin password-link/) as string },
    });
    await owner.turnMfaOn();
    expect(await link()).toMatchObject({ status: 403, body: { error: 'Second factor required' } });
    await client.expect(200, client.post('/auth/step-up', { code: owner.code() }));
    expect((await link(owner.id)).status).toBe(403);
    const { passwordResetUrl } = await client.expect(200, link());
    expect(passwordResetUrl).toMatch(/^https:\/\/door\.example\.com\/reset-password\/[\w-]{43}$/);
    expect(await owner.audited('PASSWORD_RESET_REQUESTED')).toMatchObject([
      { result: 'FAILURE' },
      { result: 'FAILURE' },
      { result: 'FAILURE' },
      { result: 'SUCCESS', actorEmail: owner.email },
    ]);
  });

  it('a refused mail does not change the response, and is logged as an error without the token', async () => {
    const { id, email } = await accountOwner(drawbridge);
    inbox.refuses = true;
    await drawbridge.api.expect(204, drawbridge.api.post('/auth/forgot-password', { email }));
    const line = await until('the error', async () =>
      drawbridge.apiServer.output.split('\n').find((text) => text.includes(id)),
    );
    inbox.refuses = false;
    expect(line).toContain('could not be mailed');
    expect(line).not.toContain('reset-password/');
  });

  it.each([
    [550, 'refused'],
    [450, 'later'],
  ])('a mail whose content gets a %i is %s, and holds back no other', async (refusal, failure) => {
    const mailer = new SmtpMailer(inbox.url, 'door@example.com', false);
    const mail = { to: 'ada@example.com', subject: 'Too large', text: 'Too large' };
    Object.assign(inbox, { refuses: true, refusal });
    const error = await mailer.send(mail).catch((thrown: unknown) => thrown);
    inbox.refuses = false;
    expect(mailFailure(error)).toBe(failure);
  });

  it('mail is not sent unencrypted by default, and the error names the setting', async () => {
    const strict = await drawbridge.startApi({ SMTP_URL: inbox.url, MAIL_FROM: 'door@example.com' });
    const owner = await accountOwner(drawbridge);
    const before = inbox.mails.length;
    const api = new ApiClient(`http://127.0.0.1:${strict.port}/api/v1`);
    await api.expect(204, api.post('/auth/forgot-password', { email: owner.email }));
    const line = await until('the error', async () =>
      strict.output.split('\n').find((text) => text.includes(owner.id)),
    );
    expect(line).toContain('could not be mailed');
    expect(line).toContain('SMTP_REQUIRE_TLS=false');
    expect(inbox.mails).toHaveLength(before);
  });
});
