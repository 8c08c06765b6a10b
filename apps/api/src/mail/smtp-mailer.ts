import { createTransport, type Transporter } from 'nodemailer';
import { Mailer, type Mail } from './mailer';

const SMTP_TIMEOUT_MS = 10_000;

/** Sends mail through an SMTP server. */
export class SmtpMailer extends Mailer {
  override readonly delivery = 'inbox';
  private readonly transport: Transporter;

  /**
   * @param url `smtp://user:password@host:587`, or `smtps://…`
   * @param requireTls whether to refuse unencrypted connections
   */
  constructor(
    url: string,
    private readonly from: string,
    requireTls: boolean,
  ) {
    super();
    this.transport = createTransport({
      url,
      requireTLS: requireTls,
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
    });
  }

  override async send({ to, subject, text }: Mail): Promise<void> {
    try {
      await this.transport.sendMail({ from: this.from, to, subject, text });
    } catch (error) {
      throw isMissingTls(error) ? new Error(MISSING_TLS, { cause: error }) : error;
    }
  }
}

const MISSING_TLS =
  'The mail server offers no STARTTLS, so nothing was sent: use an smtps:// address in SMTP_URL, or set ' +
  'SMTP_REQUIRE_TLS=false where the network to the server is trusted';

const isMissingTls = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === 'ETLS' &&
  error.message.startsWith('Error upgrading');
