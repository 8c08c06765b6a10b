import { Module } from '@nestjs/common';
import { IdempotencyStore, SessionStore } from '#tenant-store';
import { RememberedGrants } from './remembered-grants';
import { SessionReplacement } from './session-replacement';
import { SessionStarter } from './session-starter';
import { SessionSettlementWaiter } from './session-settlement-waiter';
import { SessionsController } from './sessions.controller';
import { SessionsService } from './sessions.service';

@Module({
  controllers: [SessionsController],
  providers: [
    SessionsService,
    SessionReplacement,
    SessionStarter,
    SessionSettlementWaiter,
    SessionStore,
    IdempotencyStore,
    RememberedGrants,
  ],
  exports: [SessionsService],
})
export class SessionsModule {}
