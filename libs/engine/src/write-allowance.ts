import type { CloudTarget, ProviderDriver } from '#drivers';
import type { DueRuleRow, WriteBudgetStore } from '#engine-store';
import type { Transactions } from '#entities';
import type { DueChange } from './changes';
import type { Timing } from './timing';
import type { HeldLease } from './held-lease';

/** Of an account's write budget, the share that adds leave to removals. */
const REMOVAL_RESERVE = 0.1;
/** A slot is not for waiting: after this long the object goes to the end of the line. */
const PATIENCE_MS = 2000;

/** The changes that a look is about to send. */
export interface ChangeCount {
  readonly removals: number;
  readonly additions: number;
}

/** What due rules will take, going by what was seen of them last. */
export const expectedChanges = (rules: readonly DueRuleRow[]): ChangeCount => ({
  removals: rules.filter((rule) => !rule.desired && rule.state !== 'absent').length,
  additions: rules.filter((rule) => rule.desired && rule.mayOpen && rule.state !== 'present').length,
});

export const plannedChanges = (planned: readonly DueChange[]): ChangeCount => ({
  removals: planned.filter((change) => change.action === 'remove').length,
  additions: planned.filter((change) => change.action === 'add').length,
});

/**
 * The write calls taken from one cloud account's budget for one look at an object. They are taken before the object is
 * read: a look that may not write would only cost the account a read.
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

  /** Waits a little when the budget is spent. @returns 0 when there is enough, else ms until it is worth asking again */
  async take(held: HeldLease, changes: ChangeCount): Promise<number> {
    const until = this.timing.now() + PATIENCE_MS;
    for (;;) {
      const waitMs = await this.ask(changes);
      if (waitMs === 0 || this.timing.now() + waitMs > until) return waitMs;
      await this.timing.wait(waitMs);
      await held.keep();
    }
  }

  /** What was taken has been used. */
  spent(): void {
    this.taken = 0;
  }

  /** Gives back what these changes do not need. */
  async keepOnly(changes: ChangeCount): Promise<void> {
    const spare = this.taken - this.callsOf(changes);
    if (spare <= 0) return;
    this.taken -= spare;
    const { autocommit } = this.database;
    await this.budgets.give(autocommit, this.accountKey, this.driver.traits.writeBudget, spare);
  }

  private async ask(changes: ChangeCount): Promise<number> {
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
