import type { CloudTarget, DriverError, ProviderDriver } from '#drivers';
import type { EngineStore, Intent } from '#engine-store';
import type { Transactions } from '#entities';
import {
  claimsOf,
  judge,
  planChanges,
  unmarkedOf,
  unwantedRules,
  withObservedIds,
  type ChangeResult,
} from '#rules';
import { AwaitedAdditions } from './awaited-additions';
import {
  asDriverError,
  hitQuota,
  horizonMs,
  longestWait,
  refusedAll,
  throttledByBudget,
  toRuleChange,
  withoutFinalRead,
  type DueChange,
} from './changes';
import type { CloudAccessPort } from './cloud-access';
import type { ConvergenceObserver } from './convergence-observer';
import { DeniedAdditions } from './denied-additions';
import { LeaseLost, type HeldLease } from './held-lease';
import type { Isolation } from './isolation';
import { failureOf, type PassOutcome } from './pass-outcome';
import { needsNoRead, type Pass } from './passes';
import { BUDGET_SPENT } from './settle-rule';
import { age, readFresh, readOrNull, type TimedRead } from './timed-read';
import type { Timing } from './timing';
import { expectedChanges, plannedChanges, WriteTurns } from './write-turns';

/** A leased target, opened for one pass. */
interface OpenTarget {
  readonly held: HeldLease;
  readonly driver: ProviderDriver;
  readonly target: CloudTarget;
  readonly pass: Pass;
}

/** What changes came to, and the target as read after them; null: it could not be read. */
interface Written {
  readonly results: ReadonlyMap<string, ChangeResult>;
  readonly after: TimedRead | null;
  /**
   * Rules removed because the target was full. A rule of the pass may be among them: its last holder has ended since the due
   * rules were read, so that the pass may not settle it as a desired one.
   */
  readonly madeRoom: ReadonlySet<string>;
}

/**
 * One pass, top to bottom: reads a target, plans, records the intent, sends one batch of changes and reads again. It writes
 * nothing about what came of it: `settle` does.
 */
export class PassRunner {
  private readonly turns: WriteTurns;
  private readonly awaited: AwaitedAdditions;
  private readonly denied: DeniedAdditions;

  constructor(
    private readonly database: Transactions,
    private readonly stores: EngineStore,
    private readonly clouds: CloudAccessPort,
    private readonly isolation: Isolation,
    private readonly observer: Pick<ConvergenceObserver, 'changeAnswered'>,
    private readonly timing: Timing,
  ) {
    this.turns = new WriteTurns(database, stores.budgets, timing);
    this.awaited = new AwaitedAdditions(timing);
    this.denied = new DeniedAdditions(timing);
  }

  async run(held: HeldLease, driver: ProviderDriver, pass: Pass): Promise<PassOutcome> {
    await held.ensureHeld();
    const denied = this.denied.waitOf(held, pass);
    if (denied) return { kind: 'postponed', ...denied };
    const opened = await this.attempt(held, pass, () => this.open(held, driver, pass));
    const outcome: PassOutcome =
      'error' in opened ? unreadable(opened.error) : await this.pass(held, driver, opened.done, pass);
    this.denied.note(held, pass, outcome);
    return outcome;
  }

  private async pass(
    held: HeldLease,
    driver: ProviderDriver,
    target: CloudTarget,
    pass: Pass,
  ): Promise<PassOutcome> {
    const open = { held, driver, target, pass };
    const expected = expectedChanges(pass.rules);
    // before the read: a pass that may not write would waste it, and one that waits would write by an old one
    const postponedMs = await this.turns.take(driver, target, expected);
    if (postponedMs > 0) return { kind: 'postponed', waitMs: postponedMs, message: BUDGET_SPENT };
    await held.ensureHeld();

    const first = await this.firstRead(open);
    if ('error' in first) return unreadable(first.error, await this.removeUnread(open, first.error));
    const read = first.done;

    const planned = this.awaited.without(planChanges(pass.rules, read.rules));
    // mostly none are missing
    const waitMs = await this.turns.take(driver, target, plannedChanges(planned), expected);
    const isSent = planned.length > 0 && waitMs === 0;

    const { results, after, madeRoom }: Written = isSent
      ? await this.changeAndRead(open, planned, read)
      : { results: throttledByBudget(planned), after: read, madeRoom: new Set() };

    const rules = isSent ? pass.rules.filter(({ ruleId }) => !madeRoom.has(ruleId)) : pass.rules;
    const named = isSent ? withObservedIds(rules, read.rules) : rules;
    const verdicts = after
      ? judge(named, results, after.rules)
      : judge(named, results, read.rules).map((verdict) => withoutFinalRead(verdict, results));
    if (isSent || planned.length === 0) this.awaited.note(verdicts, results, horizonMs(driver));
    return {
      kind: 'read',
      verdicts,
      read: after ?? read,
      firstRead: read,
      unmarked: unmarkedOf(pass.rules, read.rules),
      results,
      waitMs: isSent ? longestWait(results) : waitMs > 0 ? waitMs : null,
    };
  }

  /** Opens the target with the rules that count as ours: all of them if the provider replaces its whole list. */
  private async open(held: HeldLease, { traits }: ProviderDriver, pass: Pass): Promise<CloudTarget> {
    const { convergence } = this.stores;
    const claims = claimsOf(
      traits.wholeList ? await convergence.possiblyPresent(this.database.autocommit, held.lease) : pass.rules,
    );
    const { credentialId, region } = pass.access;
    return this.clouds.open({ ...held.targetName, credentialId, region }, claims);
  }

  /** A read of the target, or what the pass may take for one: then its rules count as absent. */
  private async firstRead({
    held,
    driver,
    target,
    pass,
  }: OpenTarget): Promise<{ done: TimedRead } | { error: DriverError }> {
    if (needsNoRead(driver, held.lease, pass)) {
      const now = this.timing.now();
      return { done: { rules: [], startedAt: now, endedAt: now } };
    }
    return this.attempt(held, pass, () => readFresh(this.timing, () => driver.readRules(target)));
  }

  /**
   * The removals by recorded id, where the provider denies the read: the credential may still remove. Not where the whole list
   * is written, which must be known for that. Only a read shows their effect.
   * @returns their results by rule id
   */
  private async removeUnread(
    open: OpenTarget,
    { kind }: DriverError,
  ): Promise<ReadonlyMap<string, ChangeResult>> {
    const { driver, pass } = open;
    if (kind !== 'denied' || driver.traits.wholeList) return new Map();
    const planned = planChanges(
      pass.rules.filter(({ desired }) => !desired),
      [],
    );
    return planned.length === 0 ? new Map() : this.change(open, planned, this.timing.now());
  }

  /** When the target is full, removes rules of ours that nobody wants and repeats the refused additions once. */
  private async changeAndRead(
    open: OpenTarget,
    planned: readonly DueChange[],
    read: TimedRead,
  ): Promise<Written> {
    const { driver, target } = open;
    const results = await this.change(open, planned, read.endedAt);
    const added = planned.flatMap((change) =>
      change.action === 'add' ? [[change.rule.key, change.rule.ruleId] as const] : [],
    );
    const noted = { ...target, claims: new Map([...target.claims, ...added]) };
    const again = (): Promise<TimedRead | null> => readOrNull(this.timing, () => driver.readRules(noted));
    const after = await again();
    const refused = planned.filter((change) => change.action === 'add' && hitQuota(results, change));
    const none = { results, after, madeRoom: new Set<string>() };
    if (!after || refused.length === 0) return none;
    const removals = await this.unwanted(open, after);
    const more = [...removals, ...refused];
    if (removals.length === 0 || (await this.turns.take(driver, target, plannedChanges(more))) > 0)
      return none;
    const repeated = await this.change(open, more, after.endedAt);
    return {
      results: new Map([...results, ...repeated]),
      after: await again(),
      madeRoom: new Set(removals.map(({ rule }) => rule.ruleId)),
    };
  }

  /** Removals of present rules of ours that nobody holds. Orphans among them are inserted into the database. */
  private async unwanted(
    { held: { lease }, driver, pass }: OpenTarget,
    read: TimedRead,
  ): Promise<DueChange[]> {
    const { comparisons, drift } = this.stores;
    const { autocommit } = this.database;
    const { rules } = await comparisons.known(autocommit, lease);
    const unwanted = unwantedRules(rules, read.rules).slice(0, driver.traits.batchSize);
    const orphans = unwanted.filter(({ ruleId }) => ruleId === null);
    const { endedAgoMs } = age(this.timing, read);
    const taken =
      orphans.length === 0
        ? []
        : await drift.takeOver(autocommit, lease.targetId, orphans, pass.access, 'MAKE_ROOM', endedAgoMs);
    const idOf = new Map(taken.map(({ key, ruleId }) => [key, ruleId]));
    return unwanted.flatMap(({ ruleId, key, providerRuleId }): DueChange[] => {
      const id = ruleId ?? idOf.get(key);
      return id === undefined
        ? []
        : [{ action: 'remove', rule: { ruleId: id }, providerRuleId, cause: 'MAKE_ROOM' }];
    });
  }

  /**
   * Records the intent, then sends the changes that are still desired, under a lease that cannot have expired. A change without
   * an answer is `unknown`; one that was not sent has no result.
   * @param readAt end of the read that the changes are based on
   */
  private async change(
    open: OpenTarget,
    planned: readonly DueChange[],
    readAt: number,
  ): Promise<ReadonlyMap<string, ChangeResult>> {
    const { held, driver } = open;
    await this.returnHoldersToPending(held, planned);
    await held.ensureHeld();
    held.markInFlight(driver.traits.wholeList ? 'all' : planned.map(({ rule }) => rule.ruleId));
    const intentAt = this.timing.now();
    const intent = await this.recordIntent(open, planned);
    held.assertSafeToWrite(intentAt, driver.traits.callTimeoutMs, readAt);
    const noted = new Set(intent.ruleIds);
    const sent = planned.filter(({ rule }) => noted.has(rule.ruleId));
    const results = sent.length === 0 ? new Map<string, ChangeResult>() : await this.send(open, sent);
    if (driver.traits.wholeList) await this.noteAnswer(held, driver, intent, [...results.values()]);
    return results;
  }

  /** @throws LeaseLost */
  private async recordIntent(
    { held, driver, pass }: OpenTarget,
    planned: readonly DueChange[],
  ): Promise<Intent> {
    const ofAction = (action: DueChange['action']): string[] =>
      planned.filter((change) => change.action === action).map(({ rule }) => rule.ruleId);
    const intent = await this.stores.convergence.recordIntent(
      this.database.autocommit,
      held.lease,
      {
        additions: ofAction('add'),
        removals: ofAction('remove'),
        access: pass.access,
        wholeList: driver.traits.wholeList ?? false,
        promptWrites: held.recordWrite(planned.length, driver.traits.writeSpacing),
      },
      horizonMs(driver) / 1000,
    );
    if (!intent) throw new LeaseLost(held.lease.targetId);
    return intent;
  }

  private async send(
    { held, driver, target }: OpenTarget,
    sent: readonly DueChange[],
  ): Promise<ReadonlyMap<string, ChangeResult>> {
    const changes = sent.map((change) => toRuleChange(change, target.deployment));
    const results = await held
      .renewDuring(() => driver.applyChanges(target, changes))
      .then(
        (answers) => new Map(sent.map(({ rule }, index) => [rule.ruleId, answers[index]!])),
        (error: unknown) => refusedAll(sent, asDriverError(error)),
      );
    for (const { action, rule } of sent)
      this.observer.changeAnswered(driver.kind, action, failureOf(results.get(rule.ruleId)!) ?? 'done');
    if ([...results.values()].some((result) => failureOf(result) === 'throttled'))
      await this.turns.refused(driver, target, longestWait(results));
    return results;
  }

  /** Ends the doubt about a whole-list write that was answered. For one in doubt, schedules a comparison after its deadline. */
  private async noteAnswer(
    { lease }: HeldLease,
    driver: ProviderDriver,
    intent: Intent,
    results: readonly ChangeResult[],
  ): Promise<void> {
    const { comparisons, convergence } = this.stores;
    const { autocommit } = this.database;
    if (results.some(({ result }) => result === 'unknown'))
      await comparisons.schedule(autocommit, lease.targetId, horizonMs(driver) / 1000, false);
    else await convergence.confirmWrite(autocommit, lease, intent);
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

const unreadable = (
  error: DriverError,
  results: ReadonlyMap<string, ChangeResult> = new Map(),
): PassOutcome => ({ kind: 'unreadable', error, results });
