import { Module } from '@nestjs/common';
import { AccessRequestStore, IdempotencyStore, OffboardingStore, SessionStore } from '#tenant-store';
import { CredentialsModule } from '../credentials/credentials.module';
import { MfaModule } from '../mfa/mfa.module';
import { SessionPermission } from './session-permission';
import { SessionReplacement } from './session-replacement';
import { SessionStarter } from './session-starter';
import { SessionTokens } from './session-tokens';
import { SessionSettlementWaiter } from './session-settlement-waiter';
import { SessionsController } from './sessions.controller';
import { SessionsService } from './sessions.service';

@Module({
  imports: [CredentialsModule, MfaModule],
  controllers: [SessionsController],
  providers: [
    SessionsService,
    SessionReplacement,
    SessionPermission,
    SessionStarter,
    SessionTokens,
    SessionSettlementWaiter,
    SessionStore,
    AccessRequestStore,
    IdempotencyStore,
    OffboardingStore,
  ],
  exports: [SessionsService, SessionStore, AccessRequestStore],
})
export class SessionsModule {}
