import { randomUUID } from 'node:crypto';
import type {
  ConvergenceStore,
  DueRuleRow,
  LedgerRow,
  LedgerStore,
  LeaseStore,
  Origin,
  RuleSettlement,
  SettlementOwnersStore,
  SettlementStore,
  WriteBudgetStore,
} from '#engine-store';
import { closing, type Transactions } from '#entities';
import type { CloudTarget, DriverError, ProviderDriver } from '#drivers';
import {
  APPLY_TIMEOUT_MS,
  judge,
  RETRYABLE_KINDS,
  planChanges,
  unmarkedOf,
  type DriverErrorKind,
  type Provider,
  type Verdict,
} from '#rules';
import type { CloudWays } from './cloud-access';
import type { Timing } from './timing';
import { heldBack, horizonMs, longestWait, unseen, type DueChange } from './changes';
import { HeldLease, LeaseLost } from './held-lease';
import { Isolation, type FailureObserver } from './isolation';
import { TargetWriter } from './target-writer';
import { age, type TimedRead } from './timed-read';
import { begunAgain, passes, roundOf, sortDue, withInDoubt, type Pass } from './passes';
import type { Reconciler } from './reconciler';
import { settle, type Settlement } from './settle';
import { remarksOnAbandoned } from './rule-events';
import { remarksOf, settlementsOf, type PassOutcome } from './pass-outcome';
import { BUDGET_SPENT, CREDENTIAL_DENIED, keptDue, withoutLook } from './settle-rule';
import { claimsBefore } from './whole-list';
import { expectedChanges, plannedChanges, WriteAllowance } from './write-allowance';

export interface ConvergenceStores {
  readonly leases: LeaseStore;
  readonly convergence: ConvergenceStore;
  readonly settlements: SettlementStore;
  readonly owners: SettlementOwnersStore;
  readonly ledger: LedgerStore;
  readonly budgets: WriteBudgetStore;
}

const MAX_ROUNDS = 25;
/** While adds keep a long distance, a removal that comes due is not to wait for them. */
const READ_DUE_WHILE_WAITING_MS = 1500;

/** Receives what happens, for metrics and logs. */
export interface ConvergenceObserver extends FailureObserver {
  passEnded(provider: Provider, outcome: 'ok' | DriverErrorKind): void;
  ruleClosed(provider: Provider, latenessSeconds: number): void;
  /** What the ledger took of a pass, once it is committed. */
  eventsRecorded(events: readonly LedgerRow[]): void;
}

/**
 * Makes one target what the database desires: take its lease, read what is due, plan, change, read again, write down what
 * was observed. Who calls it, and how often, does not matter.
 */
export class Converger {
  private readonly isolation: Isolation;
  private readonly writer: TargetWriter;
  private readonly held = new Set<HeldLease>();

  /** @param workerId for the ledger */
  constructor(
    private readonly database: Transactions,
    private readonly stores: ConvergenceStores,
    private readonly clouds: CloudWays,
    private readonly reconciler: Reconciler,
    private readonly observer: ConvergenceObserver,
    private readonly timing: Timing,
    private readonly workerId: string,
  ) {
    this.isolation = new Isolation(database, stores, observer, timing, workerId);
    this.writer = new TargetWriter(database, stores.convergence, reconciler, timing);
  }

  /**
   * Returns when nothing is due any more, or another worker has the target.
   * @param stopping aborted: returns after the step under way, whatever is due
   */
  async converge(targetId: string, stopping: AbortSignal): Promise<void> {
    const { leases } = this.stores;
    const held = await HeldLease.take(this.database, leases, this.timing, targetId, stopping);
    if (!held) return;
    this.held.add(held);
    try {
      const driver = await this.clouds.driver(held.lease.provider);
      let compared = held.lease.comparison === null;
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        if (await this.round(held, driver)) continue;
        if (compared) break;
        this.observer.eventsRecorded(await this.reconciler.reconcile(held, driver));
        compared = true;
      }
    } catch (error) {
      // Then its lease is left to run out: a target on which this fails is not to fill a worker every second.
      if (!(error instanceof LeaseLost)) throw error;
    } finally {
      this.held.delete(held);
    }
    await held.release();
  }

  /** Lets go of every target now, so that another worker need not wait: for when this process is about to end. */
  async handOver(): Promise<void> {
    await Promise.all([...this.held].map((held) => held.release()));
  }

  /** @returns false when nothing is due */
  private async round(held: HeldLease, driver: ProviderDriver): Promise<boolean> {
    const due = await this.dueWithDistance(held, driver);
    if (due.length === 0) return false;
    const { settled, kept, open } = sortDue(due);
    await this.settleWithoutLook(held, withoutLook(settled, kept));
    const inDoubt = new Set<string>();
    for (const pass of roundOf(passes(open))) {
      let tries = 0;
      await this.isolation.bisect(held, pass.rules, async (rules) => {
        const now = tries > 0 ? begunAgain(pass, rules, await this.due(held, driver)) : { ...pass, rules };
        tries += 1;
        if (!now) return;
        const part = withInDoubt(now, inDoubt, horizonMs(driver));
        const outcome = await this.runPass(held, driver, part);
        for (const rule of await this.settlePass(held, part, outcome))
          if (rule.inFlight) inDoubt.add(rule.ruleId);
      });
      // what was read for the passes to come is old by now
      if (tries > 1 || (driver.traits.wholeList && inDoubt.size > 0)) return true;
    }
    return true;
  }

  private async due(held: HeldLease, { traits }: ProviderDriver): Promise<DueRuleRow[]> {
    const due = await this.stores.convergence.due(this.database.autocommit, held.lease, traits.batchSize);
    return due.map((rule) =>
      held.hasSeen(rule.ruleId) ? { ...rule, inFlight: false, inFlightMs: 0, inDoubt: false } : rule,
    );
  }

  /** A write waits until the target's last one is a little past, and takes along what has come meanwhile. */
  private async dueWithDistance(held: HeldLease, driver: ProviderDriver): Promise<DueRuleRow[]> {
    await held.keep();
    for (;;) {
      const due = await this.due(held, driver);
      const { open } = sortDue(due);
      const addsOnly = open.every((rule) => rule.desired);
      const wait = open.length === 0 ? 0 : held.untilSpaced(driver.traits.writeSpacing, addsOnly);
      if (wait === 0) return due;
      await this.timing.wait(Math.min(wait, READ_DUE_WHILE_WAITING_MS));
      await held.keep();
    }
  }

  /** One read of the target, one batch of changes through one credential, and another read. Settles nothing. */
  private async runPass(held: HeldLease, driver: ProviderDriver, pass: Pass): Promise<PassOutcome> {
    await held.keep();
    const { deniedMs } = pass.access;
    if (deniedMs !== null && deniedMs > 0)
      return { kind: 'postponed', waitMs: deniedMs, message: CREDENTIAL_DENIED };
    const target = await this.attempt(held, pass, () => this.open(held, driver, pass));
    if ('error' in target) return { kind: 'unreadable', error: target.error };
    const allowance = new WriteAllowance(
      this.database,
      this.stores.budgets,
      this.timing,
      driver,
      target.done,
    );
    const early = await allowance.take(held, expectedChanges(pass.rules));
    if (early > 0) return { kind: 'postponed', waitMs: early, message: BUDGET_SPENT };
    const before = await this.attempt(held, pass, () => this.read(driver, target.done));
    const planned = 'done' in before ? planChanges(pass.rules, before.done.rules) : [];
    await allowance.keepOnly(plannedChanges(planned));
    if ('error' in before) return { kind: 'unreadable', error: before.error };
    const read = before.done;
    const unmarked = unmarkedOf(pass.rules, read.rules);
    const seen = (
      verdicts: readonly Verdict<DueRuleRow>[],
      waitMs: number | null,
      last: TimedRead = read,
      isDenied = false,
    ): PassOutcome => ({ kind: 'read', verdicts, read: last, firstRead: read, unmarked, waitMs, isDenied });
    if (planned.length === 0) return seen(judge(pass.rules, new Map(), read.rules), null);
    const waitMs = await allowance.take(held, plannedChanges(planned));
    if (waitMs > 0) return seen(judge(pass.rules, heldBack(planned), read.rules), waitMs);
    await this.announceRemovals(held, planned);
    const { results, after } = await this.writer.changeAndRead(
      { held, driver, target: target.done, pass, allowance },
      planned,
    );
    const isDenied = [...results.values()].some(
      (result) => result.result === 'refused' && result.kind === 'denied',
    );
    const verdicts = after
      ? judge(pass.rules, results, after.rules)
      : judge(pass.rules, results, read.rules).map((verdict) => unseen(verdict, results));
    return seen(verdicts, longestWait(results), after ?? read, isDenied);
  }

  /** Those who hold a rule that is removed because they could not remove it wait for their own from now on. */
  private async announceRemovals(held: HeldLease, planned: readonly DueChange[]): Promise<void> {
    const left = planned.filter(({ cause }) => cause === 'WRITER_RELEASED');
    if (left.length === 0) return;
    await this.stores.settlements.waitAgain(
      this.database.autocommit,
      held.lease,
      left.map(({ rule }) => rule.ruleId),
    );
  }

  private async open(held: HeldLease, driver: ProviderDriver, pass: Pass): Promise<CloudTarget> {
    const { autocommit } = this.database;
    const claims = await claimsBefore(autocommit, this.stores.convergence, held, driver, pass);
    const { credentialId, region } = pass.access;
    return this.clouds.open({ ...held.place, credentialId, region }, claims);
  }

  private async read(driver: ProviderDriver, target: CloudTarget): Promise<TimedRead> {
    const startedAt = this.timing.now();
    const rules = await driver.readRules(target);
    this.observer.passEnded(driver.kind, 'ok');
    return { rules, startedAt, endedAt: this.timing.now() };
  }

  /** What a step towards the target came to, or why it cannot be read. */
  private async attempt<Done>(
    held: HeldLease,
    pass: Pass,
    step: () => Promise<Done>,
  ): Promise<{ done: Done } | { error: DriverError }> {
    try {
      return { done: await step() };
    } catch (thrown) {
      const error = await this.isolation.asRetryable(held, pass.rules, thrown);
      this.observer.passEnded(held.lease.provider, error.kind);
      return { error };
    }
  }

  /** Writes what a pass came to. @returns what was settled */
  private async settlePass(held: HeldLease, pass: Pass, outcome: PassOutcome): Promise<RuleSettlement[]> {
    const rules = keptDue(
      settlementsOf(pass, outcome, () => this.timing.random()),
      pass,
    );
    held.saw(rules.filter((rule) => !rule.inFlight && rule.state !== null).map((rule) => rule.ruleId));
    await this.noteDenial(pass, outcome);
    await this.settle(held, {
      rules,
      access: pass.access,
      reading: outcome.kind === 'read' ? () => age(this.timing, outcome.read, outcome.firstRead) : null,
      waiting: pass.waiting,
      together: outcome.kind === 'unreadable' && RETRYABLE_KINDS.has(outcome.error.kind),
      remarks: remarksOf(outcome, pass),
    });
    return rules;
  }

  /** A credential that is refused is not tried for every rule again; one that is taken again is. */
  private async noteDenial(pass: Pass, outcome: PassOutcome): Promise<void> {
    if (outcome.kind === 'postponed') return;
    const isDenied = outcome.kind === 'read' ? outcome.isDenied : outcome.error.kind === 'denied';
    if (!isDenied && (pass.access.deniedMs === null || outcome.kind !== 'read')) return;
    await this.stores.convergence.noteDenial(this.database.autocommit, pass.access, isDenied);
  }

  private settleWithoutLook(held: HeldLease, local: Map<DueRuleRow, RuleSettlement>): Promise<void> {
    return this.isolation.bisect(held, [...local.keys()], (part) =>
      this.settle(held, {
        rules: part.map((rule) => local.get(rule)!),
        access: null,
        reading: null,
        waiting: [],
        remarks: remarksOnAbandoned(part),
      }),
    );
  }

  /** @throws LeaseLost after asking whoever has the lease now to look again at what this worker may have changed */
  private async settle(held: HeldLease, found: Omit<Settlement, 'giveUpSeconds'>): Promise<void> {
    const whole: Settlement = { ...found, giveUpSeconds: APPLY_TIMEOUT_MS / 1000 };
    const origin: Origin = {
      workerId: this.workerId,
      passId: randomUUID(),
      credentialId: found.access?.credentialId ?? null,
    };
    const written = await closing((trail) =>
      this.database.repeatable((tx) => settle(tx, this.stores, held.lease, whole, origin, trail)),
    );
    if (written) {
      for (const seconds of written.latenessSeconds) this.observer.ruleClosed(held.lease.provider, seconds);
      this.observer.eventsRecorded(written.events);
      return;
    }
    await this.stores.convergence.lookAgain(
      this.database.autocommit,
      held.lease,
      found.rules.map((rule) => rule.ruleId),
    );
    throw new LeaseLost(held.lease.targetId);
  }
}
