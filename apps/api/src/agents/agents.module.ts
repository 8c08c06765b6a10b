import { Module } from '@nestjs/common';
import { AgentAdmissions } from './agent-admissions';
import { AgentStateWatcher } from './agent-state-watcher';
import { AgentTurns } from './agent-turns';
import { AgentsController } from './agents.controller';
import { AgentsService } from './agents.service';

@Module({
  controllers: [AgentsController],
  providers: [AgentsService, AgentAdmissions, AgentStateWatcher, AgentTurns],
})
export class AgentsModule {}
