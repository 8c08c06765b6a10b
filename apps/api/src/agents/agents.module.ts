import { Module } from '@nestjs/common';
import { AgentGuardStore, AgentKeyStore, AgentPollStore, AgentStateStore, AgentStore } from '#engine-store';
import { AgentAdmissions } from './agent-admissions';
import { EngineStore } from '#engine-store';
import { AgentTurns } from './agent-turns';
import { AgentStateWatcher } from './agent-state-watcher';
import { AgentNamesController } from './agent-names.controller';
import { AgentNamesService } from './agent-names.service';
import { AgentsController } from './agents.controller';
import { AgentsService } from './agents.service';
import { RememberedAgents } from './remembered-agents';

@Module({
  controllers: [AgentsController, AgentNamesController],
  providers: [
    AgentsService,
    AgentNamesService,
    AgentAdmissions,
    AgentStateWatcher,
    AgentTurns,
    RememberedAgents,
    AgentGuardStore,
    AgentKeyStore,
    AgentPollStore,
    AgentStore,
    AgentStateStore,
    { provide: EngineStore, useFactory: () => new EngineStore() },
  ],
})
export class AgentsModule {}
