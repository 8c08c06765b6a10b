import { AgentGuardStore } from './agent-guard.store';
import { AgentListStore } from './agent-list.store';
import { AgentStateStore } from './agent-state.store';
import { AgentWatchStore } from './agent-watch.store';
import { AgentStore } from './agent.store';
import { BacklogStore } from './backlog.store';
import { ComparisonStore } from './comparison.store';
import { DeploymentIdStore } from './deployment-id.store';
import { EnginePort } from './engine-port';
import { LeaseStore } from './lease.store';
import { LedgerStore } from './ledger.store';
import { RestoreStore } from './restore.store';
import { RuleStore } from './rule.store';
import { SettlementOwnersStore } from './settlement-owners.store';
import { SweepStore } from './sweep.store';
import { SweeperLeaseStore } from './sweeper-lease.store';
import { TargetRuleStore } from './target-rules.store';
import { UnmanagedStore } from './unmanaged.store';
import { WriteBudgetStore } from './write-budget.store';

/** Everything the engine reads and writes. Each process has one. */
export class EngineStore extends EnginePort {
  readonly leases = new LeaseStore();
  readonly rules = new RuleStore();
  readonly owners = new SettlementOwnersStore();
  readonly ledger = new LedgerStore();
  readonly unmanaged = new UnmanagedStore();
  readonly budgets = new WriteBudgetStore();
  readonly watch = new AgentWatchStore();
  readonly sweeperLease = new SweeperLeaseStore();
  readonly agents = new AgentStore(this.rules);
  readonly agentStates = new AgentStateStore(this.rules);
  readonly agentGuards = new AgentGuardStore();
  readonly agentLists = new AgentListStore();
  readonly backlog = new BacklogStore();
  readonly targetRules = new TargetRuleStore();
  readonly restores = new RestoreStore();
  readonly deploymentIds = new DeploymentIdStore();
  readonly comparisons: ComparisonStore;
  readonly sweep: SweepStore;

  /** @param comparisonSeconds between two comparisons of one target */
  constructor(comparisonSeconds?: number) {
    super();
    this.comparisons = new ComparisonStore(comparisonSeconds);
    this.sweep = new SweepStore(this.watch, comparisonSeconds);
  }
}
