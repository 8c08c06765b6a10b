import type { CloudTarget, ProviderDriver } from '#drivers';
import type { WriteBudgetStore } from '#engine-store';
import type { Transactions } from '#entities';
import { RULE_BACKOFF } from '#rules';
import type { DueChange } from './provider-calls';
import type { Timing } from './timing';

type Budgeted = Pick<ProviderDriver, 'traits' | 'accountKey'>;

/**
 * Of an account's burst, additions take this share at once, and may wait for the turns of a further tenth. The last tenth is
 * for removals: their turn is never behind those of additions.
 */
const ADDED_AT_ONCE = 0.8;
const ADDED_IN_TURN = 0.1;
/** The longest wait for a turn in a worker's slot. */
const MAX_WAIT_MS = 2000;

/**
 * Where a pass waits for the write calls of its cloud account. The account's bucket is in the database, which grants calls
 * ahead of time and says when they may be sent: passes of all workers get their turns in the order in which they ask.
 */
export class WriteTurns {
  constructor(
    private readonly database: Transactions,
    private readonly budgets: WriteBudgetStore,
    private readonly timing: Timing,
  ) {}

  /**
   * Takes the calls for changes and waits for their turn, unless that is too far.
   * @returns 0 when they may be sent now, else ms after which the pass may try again
   */
  async take(
    driver: Budgeted,
    target: CloudTarget,
    planned: readonly Pick<DueChange, 'action'>[],
  ): Promise<number> {
    const calls = callsOf(driver, planned);
    const { autocommit } = this.database;
    const { burst, refillPerSecond } = driver.traits.writeBudget;
    const isRemoval = planned.some(({ action }) => action === 'remove');
    const account = driver.accountKey(target);
    const size = { burst: isRemoval ? burst : burst * ADDED_AT_ONCE, refillPerSecond };
    const inTurnMs = (1000 * burst * ADDED_IN_TURN) / refillPerSecond;
    const maxWaitMs = isRemoval ? MAX_WAIT_MS : Math.min(MAX_WAIT_MS, inTurnMs);
    const waitMs = await this.budgets.take(autocommit, account, size, calls, maxWaitMs);
    if (waitMs === null)
      return this.returnIn(`${account} ${isRemoval ? 'removals' : 'additions'}`, calls, driver);
    if (waitMs > 0) await this.timing.wait(waitMs);
    return 0;
  }

  /** The provider refused calls as too many: others use its budget too. @param waitMs that it asks for; null: none */
  async refused(driver: Budgeted, target: CloudTarget, waitMs: number | null): Promise<void> {
    const { autocommit } = this.database;
    const given = Math.min(waitMs ?? 0, RULE_BACKOFF.capMs);
    await this.budgets.empty(autocommit, driver.accountKey(target), driver.traits.writeBudget, given);
  }

  /** Those that got no turn come back one after the other, as the account refills: a bucket of its own that is always empty. */
  private async returnIn(line: string, calls: number, { traits }: Budgeted): Promise<number> {
    const { autocommit } = this.database;
    const empty = { ...traits.writeBudget, burst: 0 };
    const returnMs = await this.budgets.take(autocommit, line, empty, calls, RULE_BACKOFF.capMs);
    // beyond the longest wait of a rule: spread, so that they do not come back together
    return returnMs ?? RULE_BACKOFF.capMs * (0.5 + this.timing.random() / 2);
  }
}

function callsOf({ traits }: Budgeted, planned: readonly Pick<DueChange, 'action'>[]): number {
  return traits.callPerRule ? planned.length : new Set(planned.map(({ action }) => action)).size;
}
