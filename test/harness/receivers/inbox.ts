import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** Mail wraps what is longer than a line. */
export function unwrapped(mail: string): string {
  const bytes = mail
    .replaceAll('=\r\n', '')
    .replaceAll('\r\n', '\n')
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** A mail server that keeps what it takes. */
export class Inbox {
  readonly mails: string[] = [];
  /** what its clients call themselves */
  readonly clients: string[] = [];
  /** it takes no content of a mail; `refusal`: what it answers then */
  refuses = false;
  refusal = 450;
  /** it answers to no mail; `held`: to how many */
  hangs = false;
  held = 0;
  /** by address: what the server answers instead of taking a mail for it */
  readonly refusals = new Map<string, number>();
  private readonly server: SMTPServer;

  private constructor(options: SMTPServerOptions) {
    this.server = new SMTPServer({
      ...options,
      onAuth: ({ username, password }, _, answer) =>
        username === 'door' && password === 'key'
          ? answer(null, { user: username })
          : answer(new Error('Who?')),
      onRcptTo: ({ address }, { hostNameAppearsAs }, answer) => {
        this.clients.push(hostNameAppearsAs);
        const responseCode = this.refusals.get(address);
        answer(responseCode ? Object.assign(new Error('Not now'), { responseCode }) : null);
      },
      onData: (stream, _, answer) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          if (this.hangs) return void (this.held += 1);
          if (this.refuses)
            return answer(Object.assign(new Error('The mailbox is full'), { responseCode: this.refusal }));
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

  /** Mails to somebody, as a person reads them. */
  to(email: string): string[] {
    return this.mails.filter((mail) => mail.includes(`To: ${email}`)).map(unwrapped);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(resolve));
  }
}
