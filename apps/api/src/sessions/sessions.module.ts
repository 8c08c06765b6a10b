import { Module } from '@nestjs/common';
import { CredentialsModule } from '../credentials/credentials.module';
import { SessionPermission } from './session-permission';
import { SessionPlanner } from './session-planner';
import { SessionPlans } from './session-plans';
import { SessionReplacement } from './session-replacement';
import { SessionStarter } from './session-starter';
import { SessionSettlementWaiter } from './settlement-waiter';
import { SessionsController } from './sessions.controller';
import { SessionsService } from './sessions.service';

@Module({
  imports: [CredentialsModule],
  controllers: [SessionsController],
  providers: [
    SessionsService,
    SessionReplacement,
    SessionPermission,
    SessionPlanner,
    SessionPlans,
    SessionStarter,
    SessionSettlementWaiter,
  ],
  exports: [SessionPlanner, SessionsService],
})
export class SessionsModule {}
