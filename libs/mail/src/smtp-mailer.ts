import { domainToASCII } from 'node:url';
import { createTransport, type Transporter } from 'nodemailer';
import { certificateProblem, mailSender } from '#config';
import { Mailer, type Mail } from './mailer';

const SMTP_TIMEOUT_MS = 10_000;
/** For a whole mail, however slowly the server answers. */
const MAIL_TIMEOUT_MS = 15_000;

/** Sends mail through an SMTP server. */
export class SmtpMailer extends Mailer {
  override readonly delivery = 'inbox';
  private readonly transport: Transporter;

  private readonly from: { readonly name: string; readonly address: string };

  /**
   * @param url `smtp://user:password@host:587`, or `smtps://…`
   * @param from as `MAIL_FROM` has it; its domain is the name this client has for servers, which a container's own is not fit
   *   for, and some refuse
   * @param requireTls whether to refuse unencrypted connections
   */
  constructor(url: string, from: string, requireTls: boolean) {
    super();
    const sender = mailSender(from);
    if (!sender) throw new Error('MAIL_FROM is not the address of a sender');
    this.from = sender;
    this.transport = createTransport({
      url,
      name: domainToASCII(sender.address.slice(sender.address.lastIndexOf('@') + 1)),
      requireTLS: requireTls,
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
    });
  }

  override async send({ to, subject, text, unsubscribe }: Mail, stopping?: AbortSignal): Promise<void> {
    const headers = {
      // RFC 3834: no absence is answered
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribe !== undefined && { 'List-Unsubscribe': `<${unsubscribe}>` }),
    };
    // an object: a text would be read as a list of receivers
    const receiver = { name: '', address: to };
    try {
      const sending = this.transport.sendMail({ from: this.from, to: receiver, subject, text, headers });
      await within(MAIL_TIMEOUT_MS, sending, stopping);
    } catch (error) {
      if (isMissingTls(error)) throw new Error(MISSING_TLS, { cause: error });
      const certificate = certificateProblem(error);
      throw certificate === null ? error : new Error(`The mail server: ${certificate}`, { cause: error });
    }
  }
}

async function within(ms: number, sending: Promise<unknown>, stopping?: AbortSignal): Promise<void> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const given = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error('The mail server was not waited for: this process stops'));
    timer = setTimeout(() => reject(new Error(`The mail server took longer than ${ms / 1000} seconds`)), ms);
    stopping?.addEventListener('abort', stop, { signal: over.signal });
    if (stopping?.aborted) stop();
  });
  await Promise.race([sending, given]).finally(() => {
    clearTimeout(timer);
    over.abort();
  });
}

const MISSING_TLS =
  'The mail server offers no STARTTLS, so nothing was sent: use an smtps:// address in SMTP_URL, or set ' +
  'SMTP_REQUIRE_TLS=false where the network to the server is trusted';

const isMissingTls = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ETLS' &&
  error.message.startsWith('Error upgrading');

/**
 * Whom a failure concerns: `refused`: this mail, for good; `later`: this mail, for now; `server`: every mail, because there is
 * no connection, no right to send, no answer.
 */
export function mailFailure(error: unknown): 'refused' | 'later' | 'server' {
  const { command, responseCode } = error as { command?: unknown; responseCode?: unknown };
  if (command === 'API') return 'refused';
  if ((command !== 'RCPT TO' && command !== 'DATA') || typeof responseCode !== 'number') return 'server';
  return responseCode >= 500 ? 'refused' : 'later';
}
