import { DriverError } from '#drivers';
import type { EngineStore } from '#engine-store';
import { type Transactions, type Tx } from '#entities';
import {
  backoffMs,
  bisect,
  failedUnexpectedly,
  RULE_BACKOFF,
  ruleLife,
  targetTimes,
  type DueRule,
} from '#rules';
import type { ConvergenceObserver } from './convergence-observer';
import { LeaseLost, type HeldLease } from './held-lease';
import { originOf } from './ledger-rows';
import { settle } from './settle';
import type { Settlement } from './settlement';
import type { Timing } from './timing';

/**
 * Isolates unexpected failures (a malformed row, a bug) to the rules that cause them. Other rules of the target proceed; the
 * failing ones are retried with backoff.
 */
export class Isolation {
  constructor(
    private readonly database: Transactions,
    private readonly stores: EngineStore,
    private readonly observer: Pick<ConvergenceObserver, 'failed'>,
    private readonly timing: Timing,
    private readonly workerId: string,
  ) {}

  /**
   * Runs `work` for all rules, and bisects them when it fails. `work` must be repeatable.
   * @throws LeaseLost, or the database error when the database is unreachable
   */
  async bisect(
    held: HeldLease,
    rules: readonly DueRule[],
    work: (part: readonly DueRule[]) => Promise<void>,
  ): Promise<void> {
    if (rules.length === 0) return;
    const attempt = async (part: readonly DueRule[]): Promise<{ error: unknown } | null> => {
      try {
        await work(part);
        return null;
      } catch (error) {
        await this.assertIsolable(error);
        return { error };
      }
    };
    const failure = await attempt(rules);
    if (!failure) return;
    await bisect(rules, failure, attempt, async ([first, ...more], { error }) => {
      if (!first || more.length > 0) return false;
      await this.postpone(held, first, error);
      return true;
    });
  }

  /** Converts an unexpected failure of a pass to a retryable error. @throws as `bisect` */
  async asRetryable(held: HeldLease, rules: readonly DueRule[], error: unknown): Promise<DriverError> {
    if (error instanceof DriverError) return error;
    await this.assertIsolable(error);
    return new DriverError('transient', this.reportFailure(held, rules, error));
  }

  /** Rethrows a lost lease or an unreachable database: bisecting does not help. */
  private async assertIsolable(error: unknown): Promise<void> {
    if (error instanceof LeaseLost) throw error;
    await this.database.ping();
  }

  private async postpone(held: HeldLease, rule: DueRule, error: unknown): Promise<void> {
    const message = this.reportFailure(held, [rule], error);
    const whole: Settlement = {
      ruleIds: [rule.ruleId],
      decide: (rules, moment) => rules.map((one) => failedUnexpectedly(one, message, moment)),
      chance: this.timing.random(),
      applyTimeoutMs: targetTimes(held.lease.resourceType).applyTimeoutMs,
    };
    const origin = originOf(this.workerId);
    try {
      await this.database.revocation((tx) => settle(tx, this.stores, held.lease, whole, origin));
    } catch (second) {
      await this.assertIsolable(second);
      this.observer.failed(held.lease.provider, [rule.ruleId], second);
      const waitMs = backoffMs(RULE_BACKOFF, rule.row.attempts + 1, this.timing.random());
      await this.database.transaction((tx) => this.delay(tx, rule, message, waitMs));
    }
  }

  private async delay(
    tx: Tx,
    { ruleId, row: { revision } }: DueRule,
    message: string,
    waitMs: number,
  ): Promise<void> {
    const { rules, now } = await this.stores.rules.lockAlone(tx, [ruleId]);
    const postponed = rules.map((rule) => ruleLife.postponed(rule, revision, message, now + waitMs));
    await this.stores.rules.save(tx, { rules: postponed });
  }

  /** @returns a message for users: the error's own message may contain internals, and goes to the log only */
  private reportFailure(held: HeldLease, rules: readonly DueRule[], error: unknown): string {
    const ruleIds = rules.map(({ ruleId }) => ruleId);
    this.observer.failed(held.lease.provider, ruleIds, error);
    const name = error instanceof Error ? error.name : typeof error;
    return `An unexpected failure (${name}): it is tried again, and the worker's log tells more`;
  }
}
