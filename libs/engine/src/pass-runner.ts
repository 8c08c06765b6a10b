import type { CloudTarget, DriverError, ProviderDriver } from '#drivers';
import type { DueRuleRow, EngineStore } from '#engine-store';
import type { Transactions } from '#entities';
import { judge, planChanges, unmarkedOf, withObservedIds, type ChangeResult, type Verdict } from '#rules';
import { AwaitedAdditions } from './awaited-additions';
import { horizonMs, longestWait, throttledByBudget, withoutFinalRead, type DueChange } from './changes';
import type { CloudAccessPort } from './cloud-access';
import { DeniedAdditions } from './denied-additions';
import { assumedRead, needsNoRead, RecentReads } from './first-read';
import type { HeldLease } from './held-lease';
import type { Isolation } from './isolation';
import type { PassOutcome } from './pass-outcome';
import type { Pass } from './passes';
import { BUDGET_SPENT } from './settle-rule';
import type { OpenTarget, TargetWriter } from './target-writer';
import { readFresh, type TimedRead } from './timed-read';
import { BudgetLines } from './budget-lines';
import type { Timing } from './timing';
import { claimsBefore } from './whole-list';
import { expectedChanges, plannedChanges, WriteAllowance } from './write-allowance';

/** Runs passes: reads a target, plans and sends changes, and reads again. Writes nothing about the outcome: `settle` does. */
export class PassRunner {
  private readonly recent: RecentReads;
  private readonly budgetLines: BudgetLines;
  private readonly awaited: AwaitedAdditions;
  private readonly denied: DeniedAdditions;

  constructor(
    private readonly database: Transactions,
    private readonly stores: EngineStore,
    private readonly clouds: CloudAccessPort,
    private readonly writer: TargetWriter,
    private readonly isolation: Isolation,
    private readonly timing: Timing,
  ) {
    this.recent = new RecentReads(timing);
    this.budgetLines = new BudgetLines(timing);
    this.awaited = new AwaitedAdditions(timing);
    this.denied = new DeniedAdditions(timing);
  }

  /** Sends at most one batch of changes through the access path of the pass. */
  async run(held: HeldLease, driver: ProviderDriver, pass: Pass): Promise<PassOutcome> {
    await held.ensureHeld();
    const wait = this.denied.waitOf(held, pass);
    if (wait) return { kind: 'postponed', ...wait };
    const outcome = await this.readAndChange(held, driver, pass);
    this.denied.note(held, pass, outcome);
    return outcome;
  }

  private async readAndChange(held: HeldLease, driver: ProviderDriver, pass: Pass): Promise<PassOutcome> {
    const target = await this.attempt(held, pass, () => this.open(held, driver, pass));
    if ('error' in target) return { kind: 'unreadable', error: target.error, results: new Map() };
    const allowance = new WriteAllowance(
      this.database,
      this.stores.budgets,
      this.budgetLines,
      driver,
      target.done,
    );
    const early = await allowance.take(held, expectedChanges(pass.rules));
    if (early > 0) return { kind: 'postponed', waitMs: early, message: BUDGET_SPENT };
    const recent = this.recentRead(held, driver, pass);
    // beside the changes, so that access is certain until then. Whatever fails here must not lose their results: the next
    // pass reads again, and reports it
    const beside = recent && this.attempt(held, pass, () => this.read(driver, target.done)).catch(() => null);
    const before = recent ? { done: recent } : await this.firstRead(held, driver, target.done, pass);
    const planned =
      'done' in before
        ? this.awaited.without(planChanges(pass.rules, before.done.rules))
        : removalsWithoutRead(driver, pass, before.error);
    await allowance.returnUnneeded(plannedChanges(planned));
    const open = { held, driver, target: target.done, pass, allowance };
    if ('error' in before)
      return { kind: 'unreadable', error: before.error, results: await this.removeUnread(open, planned) };
    const read = before.done;
    const observed = (
      verdicts: readonly Verdict<DueRuleRow>[],
      results: ReadonlyMap<string, ChangeResult>,
      waitMs: number | null,
      last: TimedRead = read,
      firstRead: TimedRead = read,
    ): PassOutcome => {
      const unmarked = unmarkedOf(pass.rules, firstRead.rules);
      return { kind: 'read', verdicts, read: last, firstRead, unmarked, results, waitMs };
    };
    const none = new Map<string, ChangeResult>();
    if (planned.length === 0) {
      const verdicts = judge(pass.rules, none, read.rules);
      this.awaited.note(verdicts, none, horizonMs(driver));
      return observed(verdicts, none, null);
    }
    const waitMs = await allowance.take(held, plannedChanges(planned));
    if (waitMs > 0) {
      const unsent = throttledByBudget(planned);
      return observed(judge(pass.rules, unsent, read.rules), unsent, waitMs);
    }
    await this.returnHoldersToPending(held, planned);
    const { results, after, madeRoom } = await this.writer.changeAndRead(open, planned, read);
    const readBeside = await beside;
    const first = readBeside && 'done' in readBeside ? readBeside.done : read;
    if (after) this.recent.keep(held, pass, after);
    const settled = withObservedIds(
      pass.rules.filter(({ ruleId }) => !madeRoom.has(ruleId)),
      first.rules,
    );
    const verdicts = after
      ? judge(settled, results, after.rules)
      : judge(settled, results, read.rules).map((verdict) => withoutFinalRead(verdict, results));
    this.awaited.note(verdicts, results, horizonMs(driver));
    return observed(verdicts, results, longestWait(results), after ?? read, first);
  }

  /** Sends removals to a target that may not be read. @returns their results by rule id; only a read shows their effect */
  private async removeUnread(
    open: OpenTarget,
    planned: readonly DueChange[],
  ): Promise<ReadonlyMap<string, ChangeResult>> {
    const { held, allowance } = open;
    if (planned.length === 0 || (await allowance.take(held, plannedChanges(planned))) > 0) return new Map();
    await this.returnHoldersToPending(held, planned);
    const results = await this.writer.change(open, planned, this.timing.now());
    allowance.markSpent();
    return results;
  }

  /** A read of the target, or what the pass may take for one. */
  private async firstRead(
    held: HeldLease,
    driver: ProviderDriver,
    target: CloudTarget,
    pass: Pass,
  ): Promise<{ done: TimedRead } | { error: DriverError }> {
    if (needsNoRead(driver, held, pass)) return { done: assumedRead(this.timing) };
    return this.attempt(held, pass, () => readFresh(() => this.read(driver, target)));
  }

  /** A read of this worker that serves a pass of removals too; null: none, or there would be nothing to remove. */
  private recentRead(held: HeldLease, driver: ProviderDriver, pass: Pass): TimedRead | null {
    const recent = driver.traits.wholeList ? null : this.recent.before(held, pass);
    return recent && planChanges(pass.rules, recent.rules).length > 0 ? recent : null;
  }

  /** Returns the holders of `WRITER_RELEASED` removals to PENDING: they will write the rule through their own access path. */
  private async returnHoldersToPending(held: HeldLease, planned: readonly DueChange[]): Promise<void> {
    const handedOver = planned.filter(({ cause }) => cause === 'WRITER_RELEASED');
    if (handedOver.length === 0) return;
    await this.stores.settlements.returnToPending(
      this.database.autocommit,
      held.lease,
      handedOver.map(({ rule }) => rule.ruleId),
    );
  }

  private async open(held: HeldLease, driver: ProviderDriver, pass: Pass): Promise<CloudTarget> {
    const { autocommit } = this.database;
    const claims = await claimsBefore(autocommit, this.stores.convergence, held, driver, pass);
    const { credentialId, region } = pass.access;
    return this.clouds.open({ ...held.targetName, credentialId, region }, claims);
  }

  private async read(driver: ProviderDriver, target: CloudTarget): Promise<TimedRead> {
    const startedAt = this.timing.now();
    const rules = await driver.readRules(target);
    return { rules, startedAt, endedAt: this.timing.now() };
  }

  /** Runs a step; converts a failure to a DriverError. */
  private async attempt<Done>(
    held: HeldLease,
    pass: Pass,
    step: () => Promise<Done>,
  ): Promise<{ done: Done } | { error: DriverError }> {
    try {
      return { done: await step() };
    } catch (thrown) {
      return { error: await this.isolation.asRetryable(held, pass.rules, thrown) };
    }
  }
}

/**
 * The removals by recorded id, where the provider denies the read: the credential may still remove. Not where the whole list
 * is written, which must be known for that.
 */
function removalsWithoutRead(
  { traits }: ProviderDriver,
  { rules }: Pass,
  { kind }: DriverError,
): DueChange[] {
  if (kind !== 'denied' || traits.wholeList) return [];
  return planChanges(
    rules.filter(({ desired }) => !desired),
    [],
  );
}
