import { Module } from '@nestjs/common';
import { AgentSettlementStore, AgentStateStore, AgentStore } from '#entities';
import { AgentWaits } from './agent-waits';
import { AgentsController } from './agents.controller';
import { AgentsService } from './agents.service';

@Module({
  controllers: [AgentsController],
  providers: [AgentsService, AgentWaits, AgentStore, AgentStateStore, AgentSettlementStore],
})
export class AgentsModule {}
