import { Module } from '@nestjs/common';
import { IdempotencyStore, OrganizationStore, SessionStore } from '#tenant-store';
import { SessionStarter } from './session-starter';
import { SessionWaits } from './session-waits';
import { SessionsController } from './sessions.controller';
import { SessionsService } from './sessions.service';

@Module({
  controllers: [SessionsController],
  providers: [
    SessionsService,
    SessionStarter,
    SessionWaits,
    SessionStore,
    IdempotencyStore,
    OrganizationStore,
  ],
  exports: [SessionsService],
})
export class SessionsModule {}
