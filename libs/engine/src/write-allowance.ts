import type { CloudTarget, ProviderDriver } from '#drivers';
import type { DueRuleRow, WriteBudgetStore } from '#engine-store';
import type { Transactions } from '#entities';
import type { BudgetLines } from './budget-lines';
import type { DueChange } from './provider-calls';
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
    private readonly lines: BudgetLines,
    private readonly driver: ProviderDriver,
    private readonly target: CloudTarget,
    private readonly held: HeldLease,
  ) {}

  /**
   * Waits in line up to `MAX_BUDGET_WAIT_MS` when the budget is spent.
   * @returns 0 when taken, else ms after which the pass may try again
   */
  async take(changes: ChangeCount): Promise<number> {
    const missing = this.callsOf(changes) - this.taken;
    if (missing <= 0) return 0;
    const { writeBudget } = this.driver.traits;
    const isRemoval = changes.removals > 0;
    const reserve = isRemoval ? 0 : writeBudget.burst * REMOVAL_RESERVE;
    const { autocommit } = this.database;
    const waitMs = await this.lines.take({
      // removals may use the reserve, so they do not wait behind additions
      line: `${isRemoval ? 'removals' : 'additions'} ${this.accountKey}`,
      refillMs: (1000 * missing) / writeBudget.refillPerSecond,
      maxWaitMs: MAX_BUDGET_WAIT_MS,
      ask: async () => {
        await this.held.ensureHeld();
        return this.budgets.take(autocommit, this.accountKey, writeBudget, missing, reserve);
      },
    });
    if (waitMs > 0) return waitMs;
    this.taken += missing;
    return 0;
  }

  /** Call it when the taken calls have been made. */
  markSpent(): void {
    this.taken = 0;
  }

  private callsOf({ removals, additions }: ChangeCount): number {
    if (this.driver.traits.callPerRule) return removals + additions;
    return Number(removals > 0) + Number(additions > 0);
  }

  private get accountKey(): string {
    return this.driver.accountKey(this.target);
  }
}
