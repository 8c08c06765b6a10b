import { randomBytes } from 'node:crypto';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { accountOwner } from '../builders/accounts';
import { ApiClient } from '../harness/api-client';
import { Drawbridge } from '../harness/drawbridge';
import { AppProcess } from '../harness/processes';
import { until } from '../harness/until';

/** A mail server that keeps what it takes. */
class Inbox {
  readonly mails: string[] = [];
  refuses = false;
  private readonly server: SMTPServer;

  private constructor(options: SMTPServerOptions) {
    this.server = new SMTPServer({
      ...options,
      onAuth: ({ username, password }, _, answer) =>
        username === 'door' && password === 'key'
          ? answer(null, { user: username })
          : answer(new Error('Who?')),
      onData: (stream, _, answer) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          if (this.refuses) return answer(new Error('The mailbox is full'));
          this.mails.push(Buffer.concat(chunks).toString());
          answer();
        });
      },
    });
  }

  static async open(): Promise<Inbox> {
    const inbox = new Inbox({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, logger: false });
    await new Promise<void>((resolve) => inbox.server.listen(0, '127.0.0.1', resolve));
    return inbox;
  }

  get url(): string {
    const address = this.server.server.address();
    if (typeof address !== 'object' || !address) throw new Error('It does not listen');
    return `smtp://door:key@127.0.0.1:${address.port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(resolve));
  }
}

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
    // mail wraps what is longer than a line
    const plain = mail.replaceAll('=\r\n', '').replaceAll('=3D', '=');
    const link = /https:\/\/door\.example\.com\/reset-password\/([\w-]+)/.exec(plain);
    const answer = await drawbridge.api.post('/auth/reset-password', {
      token: link![1],
      newPassword: 'A fresh 1 this time',
    });
    expect(answer.status).toBe(200);
    expect(drawbridge.apiServer.output).not.toContain(link![1]);
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

  it('outside the embedded mode the API refuses to start without SMTP_URL, in one line', async () => {
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none', JWT_SECRET: randomBytes(32).toString('hex') };
    const started = AppProcess.start('api', {
      ...env,
      MASTER_KEYS: `1:${randomBytes(32).toString('base64')}`,
    });
    await expect(started).rejects.toThrow(/- SMTP_URL must be the mail server/);
  });
});
