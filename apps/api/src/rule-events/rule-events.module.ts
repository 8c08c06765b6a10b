import { Module } from '@nestjs/common';
import { LedgerQueries } from '#engine-store/port';
import { ResourcesModule } from '../resources/resources.module';
import { SessionsModule } from '../sessions/sessions.module';
import { ResourceEventsController, SessionEventsController } from './rule-events.controller';
import { RuleEventsService } from './rule-events.service';

@Module({
  imports: [SessionsModule, ResourcesModule],
  controllers: [SessionEventsController, ResourceEventsController],
  providers: [RuleEventsService, LedgerQueries],
})
export class RuleEventsModule {}
