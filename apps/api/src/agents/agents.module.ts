import { Module } from '@nestjs/common';
import { AgentGuardStore, AgentListStore, AgentStateStore, AgentStore, EngineStore } from '#engine-store';
import { AgentAdmissions } from './agent-admissions';
import { AgentStateWatcher } from './agent-state-watcher';
import { AgentTurns } from './agent-turns';
import { AgentsController } from './agents.controller';
import { AgentsService } from './agents.service';

@Module({
  controllers: [AgentsController],
  providers: [
    AgentsService,
    AgentAdmissions,
    AgentStateWatcher,
    AgentTurns,
    AgentGuardStore,
    AgentListStore,
    AgentStore,
    AgentStateStore,
    { provide: EngineStore, useFactory: () => new EngineStore() },
  ],
})
export class AgentsModule {}
