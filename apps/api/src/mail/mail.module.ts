import { Global, Module } from '@nestjs/common';
import { ApiSettings } from '../api.settings';
import { LogMailer } from './log-mailer';
import { Mailer } from './mailer';
import { SmtpMailer } from './smtp-mailer';

@Global()
@Module({
  providers: [
    {
      provide: Mailer,
      inject: [ApiSettings],
      useFactory: ({ SMTP_URL, MAIL_FROM, SMTP_REQUIRE_TLS }: ApiSettings): Mailer =>
        SMTP_URL === undefined ? new LogMailer() : new SmtpMailer(SMTP_URL, MAIL_FROM!, SMTP_REQUIRE_TLS),
    },
  ],
  exports: [Mailer],
})
export class MailModule {}
