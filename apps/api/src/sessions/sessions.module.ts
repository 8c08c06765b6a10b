import { Module } from '@nestjs/common';
import {
  AccessRequestStore,
  IdempotencyStore,
  OffboardingStore,
  SessionPlanStore,
  SessionStore,
} from '#tenant-store';
import { CredentialsModule } from '../credentials/credentials.module';
import { MfaModule } from '../mfa/mfa.module';
import { SessionPermission } from './session-permission';
import { SessionPlanner } from './session-planner';
import { SessionPlans } from './session-plans';
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
    SessionPlanner,
    SessionPlans,
    SessionPlanStore,
    SessionStarter,
    SessionTokens,
    SessionSettlementWaiter,
    SessionStore,
    AccessRequestStore,
    IdempotencyStore,
    OffboardingStore,
  ],
  exports: [SessionPlanner, SessionsService, SessionStore, AccessRequestStore, OffboardingStore],
})
export class SessionsModule {}
