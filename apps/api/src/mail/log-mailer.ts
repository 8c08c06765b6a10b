import { type Mail, Mailer } from '#mail';

/** Writes mail to the log. For the embedded service without an SMTP server, whose only user can read the log. */
export class LogMailer extends Mailer {
  override readonly delivery = 'log';

  override async send({ to, subject, text }: Mail): Promise<void> {
    const msg = 'A mail, written here because SMTP_URL is not set';
    // not through the logger, so that no LOG_LEVEL suppresses it
    process.stdout.write(
      `${JSON.stringify({ time: Date.now(), context: 'Mail', msg, to, subject, text })}\n`,
    );
  }
}
