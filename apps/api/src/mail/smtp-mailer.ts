import { createTransport, type Transporter } from 'nodemailer';
import { Mailer, type Mail } from './mailer';

const GIVE_UP_AFTER_MS = 10_000;

/** Hands mail to an SMTP server. */
export class SmtpMailer extends Mailer {
  private readonly transport: Transporter;

  /** @param url `smtp://user:password@host:587`, or `smtps://…` */
  constructor(
    url: string,
    private readonly from: string,
  ) {
    super();
    this.transport = createTransport({
      url,
      connectionTimeout: GIVE_UP_AFTER_MS,
      greetingTimeout: GIVE_UP_AFTER_MS,
      socketTimeout: GIVE_UP_AFTER_MS,
    });
  }

  override async send({ to, subject, text }: Mail): Promise<void> {
    await this.transport.sendMail({ from: this.from, to, subject, text });
  }
}
