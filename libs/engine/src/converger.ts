import type { DueRules, EngineStore, Lease } from '#engine-store';
import { type Transactions, type Tx } from '#entities';
import type { ProviderDriver } from '#drivers';
import {
  nativeExpiry,
  observe,
  RETRYABLE_KINDS,
  ruleLife,
  settleAtRest,
  showsAsWritten,
  targetTimes,
  type DueRule,
  type PassFacts,
} from '#rules';
import { age, endOf, isNotFound } from './provider-calls';
import type { CloudAccessPort } from './cloud-access';
import type { ConvergenceObserver } from './convergence-observer';
import { HeldLease, LeaseLost } from './held-lease';
import { Isolation } from './isolation';
import { originOf } from './ledger-rows';
import { PassRunner } from './pass';
import { sortDue, stepsOf, stepThrough, type Step } from './access-paths';
import type { Reconciler } from './reconciler';
import { settle } from './settle';
import type { Settlement } from './settlement';
import type { Timing } from './timing';

/** By then most calls of a worker that lost its lease have taken effect; the usual comparisons find what comes later. */
const COMPARE_AFTER_LOSS_SECONDS = 20;
const MAX_ROUNDS = 25;
/** Poll interval for due rules during the gap between writes: a removal must not wait for the longer spacing of additions. */
const DUE_POLL_INTERVAL_MS = 1500;

/**
 * Converges one target: takes its lease, reads due rules and the target, plans and sends changes, reads again and settles the
 * observation. Idempotent: it may be called at any time, any number of times.
 */
export class Converger {
  private readonly isolation: Isolation;
  private readonly passRunner: PassRunner;
  private readonly held = new Set<HeldLease>();

  /** @param workerId for the ledger */
  constructor(
    private readonly database: Transactions,
    private readonly stores: EngineStore,
    private readonly clouds: CloudAccessPort,
    private readonly reconciler: Reconciler,
    private readonly observer: ConvergenceObserver,
    private readonly timing: Timing,
    private readonly workerId: string,
  ) {
    this.isolation = new Isolation(database, stores, observer, timing, workerId);
    this.passRunner = new PassRunner({ database, stores }, clouds, this.isolation, observer, timing);
  }

  /**
   * Returns when nothing is due, or another worker holds the target.
   * @param stopping aborted: returns after the current step
   */
  async converge(targetId: string, stopping: AbortSignal): Promise<void> {
    const { leases } = this.stores;
    const held = await HeldLease.take(this.database, leases, this.timing, targetId, stopping);
    if (!held) return;
    this.held.add(held);
    try {
      const driver = await this.clouds.driver(held.lease.provider, held.lease.resourceType);
      let comparisonDue = held.lease.comparison !== null;
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        if (await this.round(held, driver)) {
          // mostly nothing came due meanwhile: then there is no list of due rules to read
          if (!comparisonDue && (await held.releaseUnlessDue())) return;
          continue;
        }
        if (!comparisonDue) break;
        this.observer.eventsRecorded(await this.reconciler.reconcile(held, driver));
        comparisonDue = false;
      }
    } catch (error) {
      // other errors leave the lease to expire, so that a failing target does not occupy a slot every second
      if (!(error instanceof LeaseLost)) throw error;
    } finally {
      this.held.delete(held);
    }
    await held.release();
  }

  /** Releases all leases, so that other workers take over at once. Call it on shutdown. */
  async handOver(): Promise<void> {
    await Promise.all([...this.held].map((held) => held.release()));
  }

  /** @returns false when nothing is due */
  private async round(held: HeldLease, driver: ProviderDriver): Promise<boolean> {
    const due = await this.dueAfterGap(held, driver);
    if (due.rules.length === 0) return false;
    const { local, open } = sortDue(due.rules);
    await this.settleLocally(held, local);
    let isFresh = true;
    for (const step of stepsOf({ ...due, rules: open })) {
      await this.isolation.bisect(held, step.rules, async (part) => {
        // what came before may have changed them: another step, or a failed attempt of this one
        const now = isFresh ? { ...step, rules: part } : await this.again(held, step, part);
        isFresh = false;
        if (now) await this.step(held, driver, now);
      });
    }
    return true;
  }

  private async again(
    held: HeldLease,
    { access }: Step,
    part: readonly DueRule[],
  ): Promise<Step | undefined> {
    const ids = part.map(({ ruleId }) => ruleId);
    return stepThrough(access, await this.stores.rules.again(this.database.autocommit, held.lease, ids));
  }

  /** One path of the target: what its pass finds is settled, of each rule for which that fails by itself. */
  private async step(held: HeldLease, driver: ProviderDriver, step: Step): Promise<void> {
    const facts = await this.passRunner.run(held, driver, step);
    const end = endOf(facts);
    if (end !== null) this.observer.passEnded(driver.kind, end);
    await this.isolation.bisect(held, step.rules, (part) =>
      this.settlePass(held, { ...step, rules: part }, facts),
    );
  }

  private due(held: HeldLease, { traits }: ProviderDriver): Promise<DueRules> {
    return this.stores.rules.due(this.database.autocommit, held.lease, traits.batchSize);
  }

  /** Waits for the gap between writes to the target, and includes the rules that came due meanwhile. */
  private async dueAfterGap(held: HeldLease, driver: ProviderDriver): Promise<DueRules> {
    await held.ensureHeld();
    for (;;) {
      const due = await this.due(held, driver);
      const { open } = sortDue(due.rules);
      const addsOnly = open.every((rule) => rule.desired);
      const wait = open.length === 0 ? 0 : held.msUntilNextWrite(driver.traits, addsOnly);
      if (wait === 0) return due;
      await this.timing.wait(Math.min(wait, DUE_POLL_INTERVAL_MS));
      await held.ensureHeld();
    }
  }

  private settlePass(held: HeldLease, { access, since, rules }: Step, facts: PassFacts): Promise<void> {
    const { firstRead, lastRead, error } = facts;
    const read = lastRead ?? firstRead;
    return this.settle(held, rules, {
      decide: (locked, moment) => observe(locked, facts, moment),
      taken: new Map(rules.map((rule) => [rule.ruleId, rule])),
      access,
      since,
      reading: read && (() => age(this.timing, read, firstRead ?? read)),
      news: read && held.newsOf(read, facts.accountKey),
      ...(read && { isShown: showsAsWritten(held.lease.targetId, read.rules) }),
      alignRetries: error !== null && error.kind !== 'postponed' && RETRYABLE_KINDS.has(error.kind),
      isNotFound: isNotFound(facts),
    });
  }

  private settleLocally(held: HeldLease, local: readonly DueRule[]): Promise<void> {
    return this.isolation.bisect(held, local, (part) => this.settle(held, part, { decide: settleAtRest }));
  }

  /** @throws LeaseLost after requeueing the rules, which this worker may have changed */
  private async settle(
    held: HeldLease,
    rules: readonly DueRule[],
    found: Omit<Settlement, 'ruleIds' | 'chance' | 'applyTimeoutMs' | 'expiry'>,
  ): Promise<void> {
    const ruleIds = rules.map(({ ruleId }) => ruleId);
    const { resourceType } = held.lease;
    const { applyTimeoutMs } = targetTimes(resourceType);
    const expiry = nativeExpiry(resourceType);
    const whole: Settlement = { ...found, ruleIds, chance: this.timing.random(), applyTimeoutMs, expiry };
    const origin = originOf(this.workerId, found.access);
    const written = await this.database.revocation(
      (tx) => settle(tx, this.stores, held.lease, whole, origin),
      'repeatable',
    );
    if (written) {
      held.noted = whole.news ?? held.noted;
      for (const seconds of written.latenessSeconds) this.observer.ruleClosed(held.lease.provider, seconds);
      this.observer.eventsRecorded(written.events);
      return;
    }
    await this.database.transaction((tx) => this.requeue(tx, held.lease, ruleIds));
    throw new LeaseLost(held.lease.targetId);
  }

  /**
   * Makes rules due whose outcome this worker may have changed without the lease. An extra pass is harmless, so this is not
   * fenced. A rule deleted meanwhile may have become an orphan: its target is compared soon.
   */
  private async requeue(tx: Tx, { targetId }: Lease, ids: readonly string[]): Promise<void> {
    const { rules: store, comparisons } = this.stores;
    const { rules, now } = await store.lockAlone(tx, ids);
    await store.save(tx, { rules: rules.map((rule) => ruleLife.requeued(rule, now)) });
    if (rules.length < ids.length)
      await comparisons.schedule(tx, targetId, COMPARE_AFTER_LOSS_SECONDS, false);
  }
}
