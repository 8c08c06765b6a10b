import { AgentWatchStore } from './agent-watch.store';
import { ComparisonStore } from './comparison.store';
import { LeaseStore } from './lease.store';
import { LedgerStore } from './ledger.store';
import { RuleStore } from './rule.store';
import { SettlementOwnersStore } from './settlement-owners.store';
import { SweepStore } from './sweep.store';
import { SweeperLeaseStore } from './sweeper-lease.store';
import { UnmanagedStore } from './unmanaged.store';
import { WriteBudgetStore } from './write-budget.store';

/** Everything the engine reads and writes. */
export class EngineStore {
  readonly leases = new LeaseStore();
  readonly rules = new RuleStore();
  readonly owners = new SettlementOwnersStore();
  readonly ledger = new LedgerStore();
  readonly unmanaged = new UnmanagedStore();
  readonly budgets = new WriteBudgetStore();
  readonly watch = new AgentWatchStore();
  readonly sweeperLease = new SweeperLeaseStore();
  readonly comparisons: ComparisonStore;
  readonly sweep: SweepStore;

  /** @param comparisonSeconds between two comparisons of one target */
  constructor(comparisonSeconds?: number) {
    this.comparisons = new ComparisonStore(comparisonSeconds);
    this.sweep = new SweepStore(comparisonSeconds);
  }
}
