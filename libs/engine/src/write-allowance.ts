import type { CloudTarget, ProviderDriver } from '#drivers';
import type { DueRuleRow, WriteBudgetStore } from '#engine-store';
import type { Transactions } from '#entities';
import type { DueChange } from './changes';
import type { Timing } from './timing';
import type { HeldLease } from './held-lease';

/** Share of an account's write budget reserved for removals. */
const REMOVAL_RESERVE = 0.1;
/** Longest wait for budget within a pass: afterwards the pass is postponed and its slot is freed. */
const MAX_BUDGET_WAIT_MS = 2000;

/** Number of changes of a pass. */
export interface ChangeCount {
  readonly removals: number;
  readonly additions: number;
}

/** Expected changes of due rules, by their recorded states. */
export const expectedChanges = (rules: readonly DueRuleRow[]): ChangeCount => ({
  removals: rules.filter((rule) => !rule.desired && rule.state !== 'absent').length,
  additions: rules.filter((rule) => rule.desired && rule.mayOpen && rule.state !== 'present').length,
});

export const plannedChanges = (planned: readonly DueChange[]): ChangeCount => ({
  removals: planned.filter((change) => change.action === 'remove').length,
  additions: planned.filter((change) => change.action === 'add').length,
});

/**
 * Write calls taken from a cloud account's budget for one pass. They are taken before the read, because a pass that may not
 * write would waste a read.
 */
export class WriteAllowance {
  private taken = 0;

  constructor(
    private readonly database: Transactions,
    private readonly budgets: WriteBudgetStore,
    private readonly timing: Timing,
    private readonly driver: ProviderDriver,
    private readonly target: CloudTarget,
  ) {}

  /** Waits up to `MAX_BUDGET_WAIT_MS` when the budget is spent. @returns 0 when taken, else ms until a retry can succeed */
  async take(held: HeldLease, changes: ChangeCount): Promise<number> {
    const until = this.timing.now() + MAX_BUDGET_WAIT_MS;
    for (;;) {
      const waitMs = await this.tryTake(changes);
      if (waitMs === 0 || this.timing.now() + waitMs > until) return waitMs;
      await this.timing.wait(waitMs);
      await held.ensureHeld();
    }
  }

  /** Call it when the taken calls have been made. */
  markSpent(): void {
    this.taken = 0;
  }

  /** Returns the calls that these changes do not need. */
  async returnUnneeded(changes: ChangeCount): Promise<void> {
    const spare = this.taken - this.callsOf(changes);
    if (spare <= 0) return;
    this.taken -= spare;
    const { autocommit } = this.database;
    await this.budgets.give(autocommit, this.accountKey, this.driver.traits.writeBudget, spare);
  }

  private async tryTake(changes: ChangeCount): Promise<number> {
    const missing = this.callsOf(changes) - this.taken;
    if (missing <= 0) return 0;
    const { writeBudget } = this.driver.traits;
    const reserve = changes.removals > 0 ? 0 : writeBudget.burst * REMOVAL_RESERVE;
    const { autocommit } = this.database;
    const waitMs = await this.budgets.take(autocommit, this.accountKey, writeBudget, missing, reserve);
    if (waitMs === 0) this.taken += missing;
    return waitMs;
  }

  private callsOf({ removals, additions }: ChangeCount): number {
    if (this.driver.traits.callPerRule) return removals + additions;
    return Number(removals > 0) + Number(additions > 0);
  }

  private get accountKey(): string {
    return this.driver.accountKey(this.target);
  }
}
