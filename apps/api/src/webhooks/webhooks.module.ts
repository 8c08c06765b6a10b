import { Module } from '@nestjs/common';
import { CredentialsModule } from '../credentials/credentials.module';
import { WebhookUrls } from './webhook-urls';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

@Module({
  imports: [CredentialsModule],
  controllers: [WebhooksController],
  providers: [WebhooksService, WebhookUrls],
})
export class WebhooksModule {}
