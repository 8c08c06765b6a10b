import { randomUUID } from 'node:crypto';
import { DriverError } from '#drivers';
import type { ConvergenceStore, DueRuleRow } from '#engine-store';
import { type Transactions, closing } from '#entities';
import { APPLY_TIMEOUT_MS, backoffMs, RULE_BACKOFF, type Provider } from '#rules';
import type { Timing } from './timing';
import { LeaseLost, type HeldLease } from './held-lease';
import { settle, type SettleStores, type Settlement } from './settle';
import { settlement } from './settle-rule';

/** Receives unexpected failures. */
export interface FailureObserver {
  failed(provider: Provider, ruleIds: readonly string[], error: unknown): void;
}

/**
 * Keeps a failure that nobody foresaw (a row that cannot be worked on, a defect of ours) to the rules it is about:
 * their neighbours on the object go on, and they themselves are tried again later and later.
 */
export class Isolation {
  constructor(
    private readonly database: Transactions,
    private readonly stores: SettleStores & { readonly convergence: Pick<ConvergenceStore, 'putOff'> },
    private readonly observer: FailureObserver,
    private readonly timing: Timing,
    private readonly workerId: string,
  ) {}

  /**
   * Does the work for all rules at once; when that fails, for each half. `work` has to bear being done again.
   * @throws LeaseLost, or what was thrown when the database is out of reach
   */
  async bisect(
    held: HeldLease,
    rules: readonly DueRuleRow[],
    work: (part: readonly DueRuleRow[]) => Promise<void>,
  ): Promise<void> {
    const [first, ...more] = rules;
    if (!first) return;
    try {
      await work(rules);
      return;
    } catch (error) {
      await this.mayGoOn(error);
      if (more.length === 0) return this.putOff(held, first, error);
    }
    const half = Math.ceil(rules.length / 2);
    await this.bisect(held, rules.slice(0, half), work);
    await this.bisect(held, rules.slice(half), work);
  }

  /** What a look at the cloud came to for its rules, as something that may pass. @throws as `bisect` */
  async asRetryable(held: HeldLease, rules: readonly DueRuleRow[], error: unknown): Promise<DriverError> {
    if (error instanceof DriverError) return error;
    await this.mayGoOn(error);
    return new DriverError('transient', this.told(held, rules, error));
  }

  /** Splitting would not help against a lost lease or a lost database. */
  private async mayGoOn(error: unknown): Promise<void> {
    if (error instanceof LeaseLost) throw error;
    await this.database.ping();
  }

  private async putOff(held: HeldLease, rule: DueRuleRow, error: unknown): Promise<void> {
    const message = this.told(held, [rule], error);
    // whether anything was sent is not known here
    const later = settlement(
      { rule, kind: 'retry', message, unknown: true, stands: false, refused: false },
      false,
      null,
      this.timing.random(),
    );
    const whole: Settlement = {
      rules: [later],
      access: null,
      reading: null,
      waiting: rule.holders.filter(({ status }) => status === 'PENDING'),
      giveUpSeconds: APPLY_TIMEOUT_MS / 1000,
      remarks: new Map(),
    };
    const origin = { workerId: this.workerId, passId: randomUUID(), credentialId: null };
    try {
      await closing((trail) =>
        this.database.transaction((tx) => settle(tx, this.stores, held.lease, whole, origin, trail)),
      );
    } catch (second) {
      await this.mayGoOn(second);
      this.observer.failed(held.lease.provider, [rule.ruleId], second);
      const seconds = backoffMs(RULE_BACKOFF, rule.attempts + 1, this.timing.random()) / 1000;
      await this.stores.convergence.putOff(this.database.autocommit, rule, message, seconds);
    }
  }

  /** @returns words for people: the error's own may hold what a tenant must not see, and are in the log */
  private told(held: HeldLease, rules: readonly DueRuleRow[], error: unknown): string {
    const ruleIds = rules.map(({ ruleId }) => ruleId);
    this.observer.failed(held.lease.provider, ruleIds, error);
    const name = error instanceof Error ? error.name : typeof error;
    return `An unexpected failure (${name}): it is tried again, and the worker's log tells more`;
  }
}
