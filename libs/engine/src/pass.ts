import type { CloudTarget, DriverError, ProviderDriver } from '#drivers';
import type { EngineStore, NotedWrite } from '#engine-store';
import type { Transactions } from '#entities';
import {
  changesOf,
  claimsOf,
  judge,
  planChanges,
  recordedKeysOf,
  unmarkedOf,
  withObservedIds,
  type ChangeResult,
} from '#rules';
import { AwaitedAdditions, DeniedAdditions } from './pass-memory';
import {
  BUDGET_SPENT,
  asDriverError,
  hitQuota,
  horizonMs,
  longestWait,
  refusedAll,
  throttledByBudget,
  toRuleChange,
  withoutFinalRead,
  type DueChange,
  readFresh,
  readOrNull,
  type TimedRead,
} from './provider-calls';
import type { CloudAccessPort } from './cloud-access';
import type { ConvergenceObserver } from './convergence-observer';
import type { HeldLease } from './held-lease';
import { recordIntent } from './intent';
import type { Isolation } from './isolation';
import { failureOf, type PassOutcome } from './outcome';
import { needsNoRead, type Pass } from './access-paths';
import { roomRemovals } from './orphans';
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

    const startedAt = this.timing.now();
    const first = await this.firstRead(open);
    if ('error' in first)
      return unreadable(first.error, await this.removeUnread(open, first.error, startedAt));
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
      changed: changesOf(pass.rules, read.rules),
      results,
      waitMs: isSent ? longestWait(results) : waitMs > 0 ? waitMs : null,
    };
  }

  /** Opens the target with the rules that count as ours: all of them if the provider replaces its whole list. */
  private async open(held: HeldLease, { traits }: ProviderDriver, pass: Pass): Promise<CloudTarget> {
    const claims = claimsOf(
      traits.wholeList
        ? await this.stores.rules.possiblyPresent(this.database.autocommit, held.lease)
        : pass.rules,
    );
    const { credentialId, region } = pass.access;
    const recordedKeys = recordedKeysOf(pass.rules);
    return this.clouds.open({ ...held.targetName, credentialId, region }, claims, recordedKeys);
  }

  /** A read of the target, or what the pass may take for one: then its rules count as absent. */
  private async firstRead({
    held,
    driver,
    target,
    pass,
  }: OpenTarget): Promise<{ done: TimedRead } | { error: DriverError }> {
    if (needsNoRead(driver, pass)) {
      const now = this.timing.now();
      return { done: { rules: [], startedAt: now, endedAt: now } };
    }
    return this.attempt(held, pass, () => readFresh(this.timing, () => driver.readRules(target)));
  }

  /**
   * The removals by recorded id, where the provider denies the read: the credential may still remove. Not where the whole list
   * is written, which must be known for that. Only a read shows their effect.
   * @param deniedAt start of that read: after a pause, another one may be allowed, and show that another program changed a rule
   * @returns their results by rule id
   */
  private async removeUnread(
    open: OpenTarget,
    { kind }: DriverError,
    deniedAt: number,
  ): Promise<ReadonlyMap<string, ChangeResult>> {
    const { driver, pass } = open;
    if (kind !== 'denied' || driver.traits.wholeList) return new Map();
    const planned = planChanges(
      pass.rules.filter(({ desired }) => !desired),
      [],
    );
    return planned.length === 0 ? new Map() : this.change(open, planned, deniedAt);
  }

  /** When the target is full, removes rules of ours that nobody wants and repeats the refused additions once. */
  private async changeAndRead(
    open: OpenTarget,
    planned: readonly DueChange[],
    read: TimedRead,
  ): Promise<Written> {
    const { held, driver, target, pass } = open;
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
    const removals = await roomRemovals(
      this.database,
      this.stores,
      held.lease,
      after,
      pass.access,
      driver.traits.batchSize,
    );
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
    const { held, driver, pass } = open;
    await held.ensureHeld();
    held.markInFlight(driver.traits.wholeList ? 'all' : planned.map(({ rule }) => rule.ruleId));
    const intentAt = this.timing.now();
    const intent = await recordIntent(this.database, this.stores, held, driver, pass.access, planned);
    held.assertSafeToWrite(intentAt, driver.traits.callTimeoutMs, readAt);
    const results =
      intent.sent.length === 0 ? new Map<string, ChangeResult>() : await this.send(open, intent.sent);
    if (driver.traits.wholeList) await this.noteAnswer(held, driver, intent.noted, [...results.values()]);
    return results;
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
    noted: NotedWrite,
    results: readonly ChangeResult[],
  ): Promise<void> {
    const { comparisons, leases } = this.stores;
    const { autocommit } = this.database;
    if (results.some(({ result }) => result === 'unknown'))
      await comparisons.schedule(autocommit, lease.targetId, horizonMs(driver) / 1000, false);
    else await leases.confirmWrite(autocommit, lease, noted);
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
