import { Module } from '@nestjs/common';
import { IdempotencyStore, OffboardingStore, SessionStore } from '#tenant-store';
import { CredentialsModule } from '../credentials/credentials.module';
import { SessionReplacement } from './session-replacement';
import { SessionStarter } from './session-starter';
import { SessionTokens } from './session-tokens';
import { SessionSettlementWaiter } from './session-settlement-waiter';
import { SessionsController } from './sessions.controller';
import { SessionsService } from './sessions.service';

@Module({
  imports: [CredentialsModule],
  controllers: [SessionsController],
  providers: [
    SessionsService,
    SessionReplacement,
    SessionStarter,
    SessionTokens,
    SessionSettlementWaiter,
    SessionStore,
    IdempotencyStore,
    OffboardingStore,
  ],
  exports: [SessionsService],
})
export class SessionsModule {}
