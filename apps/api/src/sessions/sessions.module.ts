import { Module } from '@nestjs/common';
import { IdempotencyStore, OrganizationStore, SessionStore } from '#tenant-store';
import { SessionStarter } from './session-starter';
import { SessionSettlementWaiter } from './session-settlement-waiter';
import { SessionsController } from './sessions.controller';
import { SessionsService } from './sessions.service';

@Module({
  controllers: [SessionsController],
  providers: [
    SessionsService,
    SessionStarter,
    SessionSettlementWaiter,
    SessionStore,
    IdempotencyStore,
    OrganizationStore,
  ],
  exports: [SessionsService],
})
export class SessionsModule {}
