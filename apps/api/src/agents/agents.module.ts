import { Module } from '@nestjs/common';
import { AgentGuardStore, AgentKeyStore, AgentStateStore, AgentStore } from '#engine-store';
import { AgentReportStores } from './agent-report-stores';
import { AgentStateWatcher } from './agent-state-watcher';
import { AgentNamesController } from './agent-names.controller';
import { AgentNamesService } from './agent-names.service';
import { AgentsController } from './agents.controller';
import { AgentsService } from './agents.service';

@Module({
  controllers: [AgentsController, AgentNamesController],
  providers: [
    AgentsService,
    AgentNamesService,
    AgentStateWatcher,
    AgentGuardStore,
    AgentKeyStore,
    AgentStore,
    AgentStateStore,
    AgentReportStores,
  ],
})
export class AgentsModule {}
