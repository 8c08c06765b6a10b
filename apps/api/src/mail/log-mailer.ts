import { Mailer, type Mail } from './mailer';

/** Without an SMTP server the embedded service writes its mail where its one user can read it: into the log. */
export class LogMailer extends Mailer {
  override async send({ to, subject, text }: Mail): Promise<void> {
    const msg = 'A mail, written here because SMTP_URL is not set';
    // not through the logger: whatever LOG_LEVEL is, no mail is dropped in silence
    process.stdout.write(
      `${JSON.stringify({ time: Date.now(), context: 'Mail', msg, to, subject, text })}\n`,
    );
  }
}
