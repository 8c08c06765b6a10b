import { Module } from '@nestjs/common';
import { IdempotencyStore, SessionStore } from '#entities';
import { SessionStarter } from './session-starter';
import { SessionWaits } from './session-waits';
import { SessionsController } from './sessions.controller';
import { SessionsService } from './sessions.service';

@Module({
  controllers: [SessionsController],
  providers: [SessionsService, SessionStarter, SessionWaits, SessionStore, IdempotencyStore],
})
export class SessionsModule {}
