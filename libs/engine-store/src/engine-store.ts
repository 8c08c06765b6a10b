import { AgentWatchStore } from './agent-watch.store';
import { ComparisonStore } from './comparison.store';
import { ConvergenceStore } from './convergence.store';
import { DriftStore } from './drift.store';
import { LeaseStore, SweeperLeaseStore } from './lease.store';
import { LedgerStore } from './ledger.store';
import { MissingTargetStore } from './missing-target.store';
import { RuleStore } from './rule.store';
import { SettlementOwnersStore } from './settlement-owners.store';
import { SettlementStore } from './settlement.store';
import { SweepStore } from './sweep.store';
import { UnmanagedStore } from './unmanaged.store';
import { WriteBudgetStore } from './write-budget.store';

/** Everything the engine reads and writes. */
export class EngineStore {
  readonly leases = new LeaseStore();
  readonly rules = new RuleStore();
  readonly convergence = new ConvergenceStore();
  readonly settlements = new SettlementStore();
  readonly owners = new SettlementOwnersStore();
  readonly ledger = new LedgerStore();
  readonly drift = new DriftStore();
  readonly unmanaged = new UnmanagedStore();
  readonly missingTargets = new MissingTargetStore();
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
