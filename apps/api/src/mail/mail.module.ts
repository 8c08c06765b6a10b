import { Global, Logger, Module } from '@nestjs/common';
import { Mailer, SmtpMailer } from '#mail';
import { ApiSettings } from '../api.settings';
import { LogMailer } from './log-mailer';
import { NoMailer } from './no-mailer';

function mailer({ EMBEDDED, SMTP_URL, MAIL_FROM, SMTP_REQUIRE_TLS }: ApiSettings): Mailer {
  if (SMTP_URL !== undefined) return new SmtpMailer(SMTP_URL, MAIL_FROM!, SMTP_REQUIRE_TLS);
  if (EMBEDDED) return new LogMailer();
  new Logger('Mail').warn(
    'Mail is off, as SMTP_URL is not set: administrators pass on the links of invitations (POST /users shows them) and ' +
      'of new passwords (POST /users/{id}/password-link).',
  );
  return new NoMailer();
}

@Global()
@Module({
  providers: [{ provide: Mailer, inject: [ApiSettings], useFactory: mailer }],
  exports: [Mailer],
})
export class MailModule {}
