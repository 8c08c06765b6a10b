import type { AgentGuardStore } from './agent-guard.store';
import type { AgentStore } from './agent.store';
import type { BacklogStore } from './backlog.store';
import type { TargetRuleStore } from './target-rules.store';

/** What requests read and write of the engine's. */
export abstract class EnginePort {
  abstract readonly agents: AgentStore;
  abstract readonly agentGuards: AgentGuardStore;
  abstract readonly backlog: BacklogStore;
  abstract readonly targetRules: TargetRuleStore;
}
