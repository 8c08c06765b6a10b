import type { CloudTarget, ProviderDriver } from '#drivers';
import type { DueRuleRow, Transactions, WriteBudgetStore } from '#entities';
import type { PlannedChange } from '#rules';
import type { Timing } from '../timing';
import type { HeldLease } from './held-lease';

/** Of an account's write budget, the share that adds leave to removals. */
const REMOVAL_RESERVE = 0.1;
/** A slot is not for waiting: after this long the object goes to the end of the line. */
const PATIENCE_MS = 2000;

/** The write calls that a look is about to make: one removes, one adds. */
export interface Calls {
  readonly removes: boolean;
  readonly adds: boolean;
}

const countOf = ({ removes, adds }: Calls): number => Number(removes) + Number(adds);

/** What due rules will take, going by what was seen of them last. */
export const expectedCalls = (rules: readonly DueRuleRow[]): Calls => ({
  removes: rules.some((rule) => !rule.wanted && rule.state !== 'absent'),
  adds: rules.some((rule) => rule.wanted && rule.mayOpen && rule.state !== 'present'),
});

export const plannedCalls = (planned: readonly PlannedChange[]): Calls => ({
  removes: planned.some((change) => change.action === 'remove'),
  adds: planned.some((change) => change.action === 'add'),
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
  async take(held: HeldLease, calls: Calls): Promise<number> {
    const until = this.timing.now() + PATIENCE_MS;
    for (;;) {
      const waitMs = await this.ask(calls);
      if (waitMs === 0 || this.timing.now() + waitMs > until) return waitMs;
      await this.timing.wait(waitMs);
      await held.keep();
    }
  }

  /** What was taken has been used. */
  spent(): void {
    this.taken = 0;
  }

  /** Gives back what these calls do not need. */
  async keepOnly(calls: Calls): Promise<void> {
    const spare = this.taken - countOf(calls);
    if (spare <= 0) return;
    this.taken -= spare;
    const { autocommit } = this.database;
    await this.budgets.give(autocommit, this.accountKey, this.driver.traits.writeBudget, spare);
  }

  private async ask(calls: Calls): Promise<number> {
    const missing = countOf(calls) - this.taken;
    if (missing <= 0) return 0;
    const { writeBudget } = this.driver.traits;
    const reserve = calls.removes ? 0 : writeBudget.burst * REMOVAL_RESERVE;
    const { autocommit } = this.database;
    const waitMs = await this.budgets.take(autocommit, this.accountKey, writeBudget, missing, reserve);
    if (waitMs === 0) this.taken += missing;
    return waitMs;
  }

  private get accountKey(): string {
    return this.driver.accountKey(this.target);
  }
}
