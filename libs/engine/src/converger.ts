import { randomUUID } from 'node:crypto';
import type { Lease, DueRuleRow, Origin, EngineStore } from '#engine-store';
import { type Transactions, type Tx } from '#entities';
import type { ProviderDriver } from '#drivers';
import { NOT_FOUND_TIMEOUT_MS, RETRYABLE_KINDS, type RuleSettlement, ruleLife, targetTimes } from '#rules';
import { horizonMs, age } from './provider-calls';
import type { CloudAccessPort } from './cloud-access';
import type { ConvergenceObserver } from './convergence-observer';
import { HeldLease, LeaseLost } from './held-lease';
import { Isolation } from './isolation';
import { endOf, isNotFound, settlementsOf, type PassOutcome, localSettlements } from './outcome';
import { remarksOf } from './remarks';
import { PassRunner } from './pass';
import { passes, resumedPass, roundOf, sortDue, type Pass, SharedRules } from './access-paths';
import type { Reconciler } from './reconciler';
import { remarksOnUnread } from './rule-events';
import { settle, type Settlement } from './settle';
import type { Timing } from './timing';

/** By then a call of a worker that lost its lease has taken effect or never will. */
const COMPARE_AFTER_LOSS_SECONDS = 20;
const MAX_ROUNDS = 25;
/** Poll interval for due rules during write spacing: a removal must not wait for the longer spacing of additions. */
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
    this.passRunner = new PassRunner(database, stores, clouds, this.isolation, observer, timing);
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
    const due = await this.dueAfterSpacing(held, driver);
    if (due.length === 0) return false;
    const { settled, kept, open } = sortDue(due);
    await this.settleLocally(held, localSettlements(settled, kept));
    let inDoubt = false;
    const all = passes(open);
    const shared = new SharedRules(all);
    for (const pass of roundOf(all)) {
      let attempts = 0;
      await this.isolation.bisect(held, pass.rules, async (rules) => {
        const now =
          attempts > 0 ? resumedPass(pass, rules, await this.due(held, driver)) : { ...pass, rules };
        attempts += 1;
        if (!now) return;
        const part = shared.asFound(now, horizonMs(driver));
        const outcome = await this.passRunner.run(held, driver, part);
        const end = endOf(outcome);
        if (end !== null) this.observer.passEnded(driver.kind, end);
        const found = await this.settlePass(held, part, outcome, shared);
        inDoubt ||= found.some((rule) => rule.inFlight);
      });
      // the due rules of the following passes are outdated
      if (attempts > 1 || (driver.traits.wholeList && inDoubt)) return true;
    }
    return true;
  }

  private async due(held: HeldLease, { traits }: ProviderDriver): Promise<DueRuleRow[]> {
    const due = await this.stores.rules.due(this.database.autocommit, held.lease, traits.batchSize);
    return due.map((rule) =>
      held.isSettled(rule.ruleId) ? { ...rule, inFlight: false, inFlightMs: 0, inDoubt: false } : rule,
    );
  }

  /** Waits for the write spacing of the target, and includes the rules that came due meanwhile. */
  private async dueAfterSpacing(held: HeldLease, driver: ProviderDriver): Promise<DueRuleRow[]> {
    await held.ensureHeld();
    for (;;) {
      const due = await this.due(held, driver);
      const { open } = sortDue(due);
      const changes = { count: open.length, addsOnly: open.every((rule) => rule.desired) };
      const wait = open.length === 0 ? 0 : held.msUntilNextWrite(driver.traits.writeSpacing, changes);
      if (wait === 0) return due;
      await this.timing.wait(Math.min(wait, DUE_POLL_INTERVAL_MS));
      await held.ensureHeld();
    }
  }

  /** Settles the outcome of a pass. @returns what was settled */
  private async settlePass(
    held: HeldLease,
    pass: Pass,
    outcome: PassOutcome,
    shared: SharedRules,
  ): Promise<RuleSettlement[]> {
    const rules = shared.keepDue(
      settlementsOf(pass, outcome, () => this.timing.random()),
      pass,
    );
    held.markSettled(
      rules.filter((rule) => !rule.inFlight && rule.state !== null).map((rule) => rule.ruleId),
    );
    await this.settle(held, {
      rules,
      access: pass.access,
      reading: outcome.kind === 'read' ? () => age(this.timing, outcome.read, outcome.firstRead) : null,
      waiting: pass.waiting,
      alignRetries: outcome.kind === 'unreadable' && RETRYABLE_KINDS.has(outcome.error.kind),
      ...(isNotFound(outcome) && { notFoundSeconds: NOT_FOUND_TIMEOUT_MS / 1000 }),
      remarks: remarksOf(outcome, pass),
    });
    return rules;
  }

  private settleLocally(held: HeldLease, local: Map<DueRuleRow, RuleSettlement>): Promise<void> {
    return this.isolation.bisect(held, [...local.keys()], (part) =>
      this.settle(held, {
        rules: part.map((rule) => local.get(rule)!),
        access: null,
        reading: null,
        waiting: [],
        remarks: remarksOnUnread(part),
      }),
    );
  }

  /** @throws LeaseLost after requeueing the rules, which this worker may have changed */
  private async settle(held: HeldLease, found: Omit<Settlement, 'giveUpSeconds'>): Promise<void> {
    const whole: Settlement = {
      ...found,
      giveUpSeconds: targetTimes(held.lease.resourceType).applyTimeoutMs / 1000,
    };
    const origin: Origin = {
      workerId: this.workerId,
      passId: randomUUID(),
      credentialId: found.access?.credentialId ?? null,
    };
    const written = await this.database.revocation(
      (tx) => settle(tx, this.stores, held.lease, whole, origin),
      'repeatable',
    );
    if (written) {
      for (const seconds of written.latenessSeconds) this.observer.ruleClosed(held.lease.provider, seconds);
      this.observer.eventsRecorded(written.events);
      return;
    }
    await this.database.transaction((tx) => this.requeue(tx, held.lease, found.rules));
    throw new LeaseLost(held.lease.targetId);
  }

  /**
   * Makes rules due whose outcome this worker may have changed without the lease. An extra pass is harmless, so this is not
   * fenced. A rule deleted meanwhile may have become an orphan: its target is compared soon.
   */
  private async requeue(tx: Tx, { targetId }: Lease, found: readonly RuleSettlement[]): Promise<void> {
    const { rules: store, comparisons } = this.stores;
    const ids = found.map(({ ruleId }) => ruleId);
    const { rules, now } = await store.lockAlone(tx, ids);
    await store.save(tx, { rules: rules.map((rule) => ruleLife.requeued(rule, now)) });
    if (rules.length < ids.length)
      await comparisons.schedule(tx, targetId, COMPARE_AFTER_LOSS_SECONDS, false);
  }
}
