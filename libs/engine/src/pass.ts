import { DriverError, type CloudTarget, type ProviderDriver } from '#drivers';
import type { EngineStore, NotedWrite } from '#engine-store';
import type { Transactions } from '#entities';
import { claimsOf, nativeExpiry, planChanges, recordedKeysOf, type PassFacts, type TimedRead } from '#rules';
import { DeniedAdditions, isProven, needsNoRead, type Step } from './access-paths';
import type { CloudAccessPort } from './cloud-access';
import type { ConvergenceObserver } from './convergence-observer';
import type { HeldLease } from './held-lease';
import { recordIntent } from './intent';
import type { Isolation } from './isolation';
import {
  answeredWith,
  failureOf,
  horizonMs,
  longestWait,
  readFresh,
  readOrNull,
  refusedAll,
  throttledByBudget,
  toRuleChange,
  withRoom,
  type DueChange,
} from './provider-calls';
import type { Timing } from './timing';
import { WriteTurns } from './write-turns';

/** A leased target, opened for one step. */
interface OpenTarget {
  readonly held: HeldLease;
  readonly driver: ProviderDriver;
  readonly target: CloudTarget;
  readonly step: Step;
}

type Sent = PassFacts['sent'];
const NOTHING: Sent = new Map();

/**
 * One pass, top to bottom: reads a target, plans, records the intent, sends one batch of changes and reads again. It returns
 * what it found and concludes nothing from it: `observe` does, under the lock of `settle`.
 */
export class PassRunner {
  private readonly turns = new WriteTurns(this.rows.database, this.rows.stores.budgets, this.timing);
  private readonly denied = new DeniedAdditions(this.timing);

  constructor(
    private readonly rows: { readonly database: Transactions; readonly stores: EngineStore },
    private readonly clouds: CloudAccessPort,
    private readonly isolation: Isolation,
    private readonly observer: Pick<ConvergenceObserver, 'changeAnswered'>,
    private readonly timing: Timing,
  ) {}

  async run(held: HeldLease, driver: ProviderDriver, step: Step): Promise<PassFacts> {
    await held.ensureHeld();
    const denied = this.denied.waitOf(held, step);
    if (denied) return unread({ kind: 'postponed', message: denied.message }, NOTHING, denied.waitMs);
    const opened = await this.attempt(held, step, () => this.open(held, driver, step));
    const facts =
      'error' in opened
        ? unread(opened.error, NOTHING, opened.error.retryAfterMs)
        : await this.pass({ held, driver, target: opened.done, step });
    this.denied.note(held, step, facts);
    return facts;
  }

  private async pass(open: OpenTarget): Promise<PassFacts> {
    const { held, driver, target, step } = open;
    const startedAt = this.timing.now();
    const first = await this.firstRead(open);
    if ('error' in first) {
      const sent = await this.removeUnread(open, first.error, startedAt);
      return unread(first.error, sent, longestWait(sent) ?? first.error.retryAfterMs);
    }
    const firstRead = first.done;
    const account = isProven(step) ? { accountKey: driver.accountKey(target) } : {};
    const read = { firstRead, lastRead: firstRead, error: null, ...account };
    const expiry = nativeExpiry(held.lease.resourceType);
    const clock = expiry && { ...expiry, now: step.since };
    const planned = planChanges(step.rules, firstRead.rules, clock);
    if (planned.length === 0) return { ...read, sent: NOTHING, waitMs: null };
    const turn = await this.turns.take(driver, target, planned);
    if (!turn.isNow)
      return { ...read, sent: throttledByBudget(planned, turn.againInMs), waitMs: turn.againInMs };
    held.noteBudget(turn);
    const sent = await this.change(open, planned, firstRead.endedAt);
    const added = planned.flatMap((change) =>
      change.action === 'add' ? [[change.rule.key, change.rule.ruleId] as const] : [],
    );
    const known = { ...target, claims: new Map([...target.claims, ...added]) };
    const lastRead = await readOrNull(this.timing, () => driver.readRules(known));
    const found = withRoom({ sent, lastRead }, planned, held.lease.resourceType);
    return { ...read, ...found, waitMs: longestWait(sent) };
  }

  /** Opens the target with the rules that count as ours: all of them if the provider replaces its whole list. */
  private async open(held: HeldLease, { traits }: ProviderDriver, step: Step): Promise<CloudTarget> {
    const claims = claimsOf(
      traits.wholeList
        ? await this.rows.stores.rules.possiblyPresent(this.rows.database.autocommit, held.lease)
        : step.rules.map(({ ruleId, row }) => ({ ruleId, ...row })),
    );
    const { credentialId, region } = step.access;
    const access = { ...held.targetName, credentialId, region, isProven: isProven(step) };
    return this.clouds.open(access, claims, recordedKeysOf(step.rules));
  }

  /** A read of the target, or what the pass may take for one: then its rules count as absent. */
  private async firstRead(open: OpenTarget): Promise<{ done: TimedRead } | { error: DriverError }> {
    const { held, driver, target, step } = open;
    if (needsNoRead(driver, step)) {
      const now = this.timing.now();
      return { done: { rules: [], startedAt: now, endedAt: now } };
    }
    return this.attempt(held, step, () => readFresh(this.timing, () => driver.readRules(target)));
  }

  /**
   * The removals by recorded id, where the provider denies the read: the credential may still remove. Not where the whole list
   * is written, which must be known for that. Only a read shows their effect.
   * @param deniedAt start of that read: after a pause, another one may be allowed, and show that another program changed a rule
   */
  private async removeUnread(open: OpenTarget, { kind }: DriverError, deniedAt: number): Promise<Sent> {
    const { held, driver, target, step } = open;
    if (kind !== 'denied' || driver.traits.wholeList) return NOTHING;
    const unwanted = step.rules.filter(({ desired }) => !desired);
    const planned = planChanges(unwanted, []);
    if (planned.length === 0) return NOTHING;
    const turn = await this.turns.take(driver, target, planned);
    if (!turn.isNow) return throttledByBudget(planned, turn.againInMs);
    held.noteBudget(turn);
    return this.change(open, planned, deniedAt);
  }

  /**
   * Records the intent, then sends the changes that are still desired, under a lease that cannot have expired. A change without
   * an answer is `unknown`; one that was not sent is not among the results.
   * @param readAt end of the read that the changes are based on
   */
  private async change(open: OpenTarget, planned: readonly DueChange[], readAt: number): Promise<Sent> {
    const { held, driver, step } = open;
    await held.ensureHeld();
    const intentAt = this.timing.now();
    const intent = await recordIntent(this.rows, held, driver, step.access, planned);
    held.assertSafeToWrite(intentAt, driver.traits.callTimeoutMs, readAt);
    const sent = intent.sent.length === 0 ? NOTHING : await this.send(open, intent.sent);
    if (driver.traits.wholeList) await this.noteAnswer(held, driver, intent.noted, sent);
    return sent;
  }

  private async send({ held, driver, target }: OpenTarget, planned: readonly DueChange[]): Promise<Sent> {
    const changes = planned.map((change) => toRuleChange(change, target.deployment));
    const sent = await held
      .renewDuring(() => driver.applyChanges(target, changes))
      .then(
        (answers) => answeredWith(planned, (index) => answers[index]!),
        (error: unknown) => {
          if (error instanceof DriverError) return refusedAll(planned, error);
          throw error;
        },
      );
    const failures = [...sent.values()].map(({ action, result }) => [action, failureOf(result)] as const);
    for (const [action, failure] of failures)
      this.observer.changeAnswered(driver.kind, action, failure ?? 'done');
    if (failures.some(([, failure]) => failure === 'throttled'))
      await this.turns.noteRefusal(driver, target, longestWait(sent));
    return sent;
  }

  /** Ends the doubt about a whole-list write that was answered. For one in doubt, schedules a comparison after its deadline. */
  private async noteAnswer(
    { lease }: HeldLease,
    driver: ProviderDriver,
    noted: NotedWrite,
    sent: Sent,
  ): Promise<void> {
    const { comparisons, leases } = this.rows.stores;
    const { autocommit } = this.rows.database;
    if ([...sent.values()].some(({ result }) => result.result === 'unknown'))
      await comparisons.schedule(autocommit, lease.targetId, horizonMs(driver) / 1000, false);
    else await leases.confirmWrite(autocommit, lease, noted);
  }

  /** Runs a part of the pass; converts a failure to a DriverError. */
  private async attempt<Done>(
    held: HeldLease,
    step: Step,
    work: () => Promise<Done>,
  ): Promise<{ done: Done } | { error: DriverError }> {
    try {
      return { done: await work() };
    } catch (thrown) {
      return { error: await this.isolation.asRetryable(held, step.rules, thrown) };
    }
  }
}

/** @param waitMs that the provider asks for; null: back off */
const unread = (
  { kind, message }: NonNullable<PassFacts['error']>,
  sent: Sent,
  waitMs: number | null,
): PassFacts => ({ firstRead: null, lastRead: null, sent, error: { kind, message }, waitMs });
