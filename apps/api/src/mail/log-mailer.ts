import { Logger } from '@nestjs/common';
import { Mailer, type Mail } from './mailer';

/** Without an SMTP server the embedded service writes its mail where its one user can read it: into the log. */
export class LogMailer extends Mailer {
  private readonly logger = new Logger('Mail');

  override async send({ to, subject, text }: Mail): Promise<void> {
    this.logger.log({ msg: 'A mail, written here because SMTP_URL is not set', to, subject, text });
  }
}
