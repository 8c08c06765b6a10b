import type { CloudTarget, ProviderDriver } from '#drivers';
import type { WriteBudgetStore } from '#engine-store';
import type { Transactions } from '#entities';
import { ADDED_AT_ONCE, ADDED_IN_TURN, RULE_BACKOFF } from '#rules';
import type { DueChange } from './provider-calls';
import type { Timing } from './timing';

/*
 * Where a write waits. Nowhere else, and users read where: `WAITS`, as `waitsFor` of a rule (`WAITS_FOR` of
 * target-rules.store.ts decides the word). Orphans of a restored database, which are not due until it is confirmed, have none.
 *
 *   SLOT        of a worker, shared fairly (`chooseFairly`); also while the target's lease, a call or a step before is under way
 *   GAP         of the target, while its account is short of writes, or where its writes block each other
 *               (`HeldLease.msUntilNextWrite`); it is waited for in the slot
 *   TURN        of the account, once the changes are planned (here): up to two seconds in the slot, which reads SLOT, else later:
 *               removals and additions each have a queue, which says when to ask again and reserves nothing
 *   BACK_OFF    of a rule after a failure, together with the target's other retries (`rowBy`, `alignRetries`), of a path
 *               whose additions were denied (`DeniedAdditions`), of a rule in doubt or awaited, and until a restore is confirmed
 *   SUSPENSION  of a rule that another program keeps removing, or that has no effect (`ruleLife.lost`, `withoutEffect`)
 */

type Budgeted = Pick<ProviderDriver, 'traits' | 'accountKey'>;

/** The longest wait for a turn in a worker's slot. */
const MAX_WAIT_MS = 2000;
/** An account is short of writes while less than this share of its burst is left. */
const SHORT_OF_WRITES = 0.5;

/** A turn for the calls of a pass: now, or none. */
export type Turn =
  | {
      readonly isNow: true;
      /** the account is short of writes: changes to a target are gathered */
      readonly isShort: boolean;
    }
  /** @property againInMs when its turn will have come */
  | { readonly isNow: false; readonly againInMs: number };

/**
 * Where a pass waits for the write calls of its cloud account. The account's bucket is in the database, which grants calls
 * ahead of time and says when they may be sent: passes of all workers get their turns in the order in which they ask.
 */
export class WriteTurns {
  constructor(
    private readonly database: Transactions,
    private readonly budgets: WriteBudgetStore,
    private readonly timing: Pick<Timing, 'wait' | 'random'>,
  ) {}

  /** Takes the calls for changes and waits for their turn. Where that is too far, they are tried again later, in order */
  async take(
    driver: Budgeted,
    target: CloudTarget,
    planned: readonly Pick<DueChange, 'action'>[],
  ): Promise<Turn> {
    const { autocommit } = this.database;
    const { burst, refillPerSecond } = driver.traits.writeBudget;
    const isRemoval = planned.some(({ action }) => action === 'remove');
    const size = { burst: isRemoval ? burst : burst * ADDED_AT_ONCE, refillPerSecond };
    const inTurnMs = (1000 * burst * ADDED_IN_TURN) / refillPerSecond;
    const maxWaitMs = isRemoval ? MAX_WAIT_MS : Math.min(MAX_WAIT_MS, inTurnMs);
    const calls = callsOf(driver, planned);
    const account = driver.accountKey(target);
    const turn = await this.budgets.take(autocommit, account, size, calls, maxWaitMs);
    if (!turn) {
      const queued = { action: isRemoval ? 'remove' : 'add', calls } as const;
      const againInMs = await this.budgets.enqueue(autocommit, account, size, queued, RULE_BACKOFF.capMs);
      // beyond the longest wait of a rule: spread, so that they do not come back together
      return { isNow: false, againInMs: againInMs ?? RULE_BACKOFF.capMs * (0.5 + this.timing.random() / 2) };
    }
    if (turn.waitMs > 0) await this.timing.wait(turn.waitMs);
    const left = burst - (turn.fullInMs / 1000) * refillPerSecond;
    return { isNow: true, isShort: left < burst * SHORT_OF_WRITES };
  }

  /** The provider refused calls as too many: others use its budget too. @param waitMs that it asks for; null: none */
  async noteRefusal(driver: Budgeted, target: CloudTarget, waitMs: number | null): Promise<void> {
    const { autocommit } = this.database;
    const given = Math.min(waitMs ?? 0, RULE_BACKOFF.capMs);
    await this.budgets.empty(autocommit, driver.accountKey(target), driver.traits.writeBudget, given);
  }
}

function callsOf({ traits }: Budgeted, planned: readonly Pick<DueChange, 'action'>[]): number {
  return traits.callPerRule ? planned.length : new Set(planned.map(({ action }) => action)).size;
}
