import type { ConvergenceStore } from '#engine-store';
import type { Transactions } from '#entities';
import type { CloudTarget, ProviderDriver } from '#drivers';
import type { ChangeResult } from '#rules';
import type { Timing } from './timing';
import type { TimedRead } from './timed-read';
import {
  asDriverError,
  horizonMs,
  hitQuota,
  refusedAll,
  readOrNull,
  toRuleChange,
  type DueChange,
} from './changes';
import type { ConvergenceObserver } from './convergence-observer';
import { LeaseLost, type HeldLease } from './held-lease';
import { failureOf } from './pass-outcome';
import type { Pass } from './passes';
import type { Reconciler } from './reconciler';
import { claimsAfter, recordAnswer } from './whole-list';
import { plannedChanges, type WriteAllowance } from './write-allowance';

/** A leased target, opened for one pass. */
export interface OpenTarget {
  readonly held: HeldLease;
  readonly driver: ProviderDriver;
  readonly target: CloudTarget;
  readonly pass: Pass;
  readonly allowance: WriteAllowance;
}

/** The results of changes by rule id, and the target as read after them; null: it could not be read. */
interface Written {
  readonly results: Map<string, ChangeResult>;
  readonly after: TimedRead | null;
  readonly madeRoom: ReadonlySet<string>;
}

/** Writes to targets. Each write requires a recorded intent and a lease that cannot have expired. */
export class TargetWriter {
  constructor(
    private readonly database: Transactions,
    private readonly convergence: ConvergenceStore,
    private readonly reconciler: Pick<Reconciler, 'makeRoom' | 'scheduleComparison'>,
    private readonly observer: Pick<ConvergenceObserver, 'changeAnswered'>,
    private readonly timing: Timing,
  ) {}

  /**
   * Sends the changes and reads the target again. When the target is full, removes unwanted rules of ours and retries the
   * refused additions once.
   * @param read which the changes are based on
   * @returns `madeRoom`: ids of the rules removed for it. A rule of the pass may be among them: its last holder has ended since
   *   the due rules were read, so that the pass may not settle it as a desired one
   */
  async changeAndRead(
    open: OpenTarget,
    planned: readonly DueChange[],
    read: Pick<TimedRead, 'endedAt'>,
  ): Promise<Written> {
    const { held, driver, target, pass, allowance } = open;
    const results = await this.change(open, planned, read.endedAt);
    allowance.markSpent();
    const noted = { ...target, claims: claimsAfter(target.claims, planned) };
    const after = await this.read(driver, noted);
    const refused = planned.filter((change) => change.action === 'add' && hitQuota(results, change));
    const madeRoom = new Set<string>();
    if (!after || refused.length === 0) return { results, after, madeRoom };
    const removals = await this.reconciler.makeRoom(held, after, pass.access, driver.traits.batchSize);
    if (removals.length === 0) return { results, after, madeRoom };
    const more = [...removals, ...refused];
    if ((await allowance.take(held, plannedChanges(more))) > 0) return { results, after, madeRoom };
    const again = await this.change(open, more, after.endedAt);
    for (const { rule } of removals) madeRoom.add(rule.ruleId);
    return { results: new Map([...results, ...again]), after: await this.read(driver, noted), madeRoom };
  }

  private async read(driver: ProviderDriver, target: CloudTarget): Promise<TimedRead | null> {
    const startedAt = this.timing.now();
    const rules = await readOrNull(driver, target);
    return rules && { rules, startedAt, endedAt: this.timing.now() };
  }

  /**
   * Records the intent, then sends the changes that are still desired. A change without an answer is `unknown`; a change that
   * was not sent has no result.
   */
  async change(
    { held, driver, target, pass }: OpenTarget,
    planned: readonly DueChange[],
    readAt: number,
  ): Promise<Map<string, ChangeResult>> {
    await held.ensureHeld();
    const ofAction = (action: DueChange['action']): string[] =>
      planned.filter((change) => change.action === action).map(({ rule }) => rule.ruleId);
    held.markInFlight(driver.traits.wholeList ? 'all' : planned.map(({ rule }) => rule.ruleId));
    const intentAt = this.timing.now();
    const promptWrites = held.recordWrite(planned.length, driver.traits.writeSpacing);
    const intent = await this.convergence.recordIntent(
      this.database.autocommit,
      held.lease,
      {
        additions: ofAction('add'),
        removals: ofAction('remove'),
        access: pass.access,
        wholeList: driver.traits.wholeList ?? false,
        promptWrites,
      },
      horizonMs(driver) / 1000,
    );
    if (!intent) throw new LeaseLost(held.lease.targetId);
    held.assertSafeToWrite(intentAt, driver.traits.callTimeoutMs, readAt);
    const noted = new Set(intent.ruleIds);
    const sent = planned.filter(({ rule }) => noted.has(rule.ruleId));
    const results =
      sent.length === 0 ? new Map<string, ChangeResult>() : await this.send(held, driver, target, sent);
    for (const { action, rule } of sent) {
      const result = results.get(rule.ruleId);
      if (result) this.observer.changeAnswered(driver.kind, action, failureOf(result) ?? 'done');
    }
    if (driver.traits.wholeList)
      await recordAnswer(this.database.autocommit, this.convergence, this.reconciler, {
        held,
        intent,
        results: [...results.values()],
        horizonMs: horizonMs(driver),
      });
    return results;
  }

  private async send(
    held: HeldLease,
    driver: ProviderDriver,
    target: CloudTarget,
    planned: readonly DueChange[],
  ): Promise<Map<string, ChangeResult>> {
    const changes = planned.map((change) => toRuleChange(change, target.deployment));
    try {
      const results = await held.renewDuring(() => driver.applyChanges(target, changes));
      return new Map(planned.map(({ rule }, index) => [rule.ruleId, results[index]!]));
    } catch (error) {
      return refusedAll(planned, asDriverError(error));
    }
  }
}
