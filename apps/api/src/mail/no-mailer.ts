import { Mailer } from '#mail';

/** For a deployment without a mail server. Nothing may be sent: a log is no place for links that are worth a password. */
export class NoMailer extends Mailer {
  override readonly delivery = 'nowhere';

  override send(): Promise<void> {
    return Promise.reject(new Error('Mail is off, as SMTP_URL is not set'));
  }
}
