import { isDeepStrictEqual } from 'node:util';
import {
  closing,
  type ConvergenceStore,
  type DueRuleRow,
  type LeaseStore,
  type RuleSettlement,
  type Settlement,
  type SettlementStore,
  type Transactions,
  type WriteBudgetStore,
} from '#entities';
import type { CloudTarget, ProviderDriver } from '#drivers';
import {
  APPLY_GIVE_UP_MS,
  judge,
  judgeUnreadable,
  PASSING_KINDS,
  planChanges,
  type DriverErrorKind,
  type ObservedRule,
  type Provider,
  type Verdict,
} from '#rules';
import type { CloudWays } from '../clouds/cloud-access';
import type { Timing } from '../timing';
import { heldBack, horizonMs, longestWait, unseen } from './changes';
import { HeldLease, LeaseLost } from './held-lease';
import { Isolation, type FailureObserver } from './isolation';
import { ObjectWriter } from './object-writer';
import { begunAgain, passes, sortDue, withUnheard, type Pass } from './passes';
import type { Reconciler } from './reconciler';
import { keptDue, postponed, settlement, withoutLook } from './settle-rule';
import { claimsBefore } from './whole-list';
import { expectedChanges, plannedChanges, WriteAllowance } from './write-allowance';

export interface ConvergenceStores {
  readonly leases: LeaseStore;
  readonly convergence: ConvergenceStore;
  readonly settlements: Pick<SettlementStore, 'settle'>;
  readonly budgets: WriteBudgetStore;
}

const MOST_ROUNDS = 25;
/** While adds keep a long distance, a removal that comes due is not to wait for them. */
const LOOK_WHILE_WAITING_MS = 1500;

/** Told of what happens, for those who watch. */
export interface ConvergenceObserver extends FailureObserver {
  looked(provider: Provider, outcome: 'ok' | DriverErrorKind): void;
  closed(provider: Provider, latenessSeconds: number): void;
}

/**
 * Makes one cloud object what the database wants it to be: take its lease, look at what is due, plan, change, look
 * again, write down what was seen. Whoever calls it, and how often, does not matter.
 */
export class Converger {
  private readonly isolation: Isolation;
  private readonly writer: ObjectWriter;
  private readonly held = new Set<HeldLease>();

  constructor(
    private readonly database: Transactions,
    private readonly stores: ConvergenceStores,
    private readonly clouds: CloudWays,
    private readonly reconciler: Reconciler,
    private readonly observer: ConvergenceObserver,
    private readonly timing: Timing,
  ) {
    this.isolation = new Isolation(database, stores, observer, timing);
    this.writer = new ObjectWriter(database, stores.convergence, reconciler, timing);
  }

  /**
   * Returns when nothing is due any more, or another worker has the object.
   * @param stopping aborted: returns after the step under way, whatever is due
   */
  async converge(targetId: string, stopping: AbortSignal): Promise<void> {
    const { leases } = this.stores;
    const held = await HeldLease.take(this.database, leases, this.timing, targetId, stopping);
    if (!held) return;
    this.held.add(held);
    try {
      const driver = await this.clouds.driver(held.lease.provider);
      let reconciled = false;
      for (let round = 0; round < MOST_ROUNDS; round += 1) {
        if (await this.round(held, driver)) continue;
        if (!held.lease.reconcileDue || reconciled) break;
        await this.reconciler.reconcile(held, driver);
        reconciled = true;
      }
    } catch (error) {
      // Then its lease is left to run out: an object on which this fails is not to fill a worker every second.
      if (!(error instanceof LeaseLost)) throw error;
    } finally {
      this.held.delete(held);
    }
    await held.release();
  }

  /** Lets go of every object now, so that another worker need not wait: for when this process is about to end. */
  async handOver(): Promise<void> {
    await Promise.all([...this.held].map((held) => held.release()));
  }

  /** @returns false when nothing is due */
  private async round(held: HeldLease, driver: ProviderDriver): Promise<boolean> {
    const due = await this.dueWithDistance(held, driver);
    if (due.length === 0) return false;
    const { settled, kept, open } = sortDue(due);
    const local = withoutLook(settled, kept);
    await this.isolation.apart(held, [...local.keys()], (part) =>
      this.settle(held, {
        rules: part.map((rule) => local.get(rule)!),
        access: null,
        looked: false,
        waiting: [],
      }),
    );
    const unheard = new Set<string>();
    for (const pass of passes(open)) {
      let tries = 0;
      await this.isolation.apart(held, pass.rules, async (rules) => {
        const now = tries > 0 ? begunAgain(pass, rules, await this.due(held, driver)) : { ...pass, rules };
        tries += 1;
        if (!now) return;
        const part = withUnheard(now, unheard, horizonMs(driver));
        for (const rule of await this.look(held, driver, part)) if (rule.inFlight) unheard.add(rule.ruleId);
      });
      // what was read for the passes to come is old by now
      if (tries > 1 || (driver.traits.wholeList && unheard.size > 0)) return true;
    }
    return true;
  }

  private async due(held: HeldLease, { traits }: ProviderDriver): Promise<DueRuleRow[]> {
    const due = await this.stores.convergence.due(this.database.autocommit, held.lease, traits.batchSize);
    return due.map((rule) =>
      held.hasSeen(rule.ruleId) ? { ...rule, inFlight: false, inFlightMs: 0, unheard: false } : rule,
    );
  }

  /** A write waits until the object's last one is a little past, and takes along what has come meanwhile. */
  private async dueWithDistance(held: HeldLease, driver: ProviderDriver): Promise<DueRuleRow[]> {
    await held.keep();
    for (;;) {
      const due = await this.due(held, driver);
      const { open } = sortDue(due);
      const addsOnly = open.every((rule) => rule.wanted);
      const wait = open.length === 0 ? 0 : held.untilSpaced(driver.traits.writeSpacing, addsOnly);
      if (wait === 0) return due;
      await this.timing.wait(Math.min(wait, LOOK_WHILE_WAITING_MS));
      await held.keep();
    }
  }

  /** One look at the cloud, and one batch of changes, through one credential. @returns what was settled by it */
  private async look(held: HeldLease, driver: ProviderDriver, pass: Pass): Promise<RuleSettlement[]> {
    await held.keep();
    const target = await this.openFor(held, driver, pass);
    if (!target) return [];
    const allowance = new WriteAllowance(this.database, this.stores.budgets, this.timing, driver, target);
    const early = await allowance.take(held, expectedChanges(pass.rules));
    if (early > 0) return this.settlePass(held, pass, postponed(pass.rules, early), false);
    const before = await this.read(held, driver, target, pass);
    const planned = before ? planChanges(pass.rules, before) : [];
    await allowance.keepOnly(plannedChanges(planned));
    if (!before) return [];
    if (planned.length === 0) {
      return this.settleVerdicts(held, pass, judge(pass.rules, new Map(), before));
    }
    const waitMs = await allowance.take(held, plannedChanges(planned));
    if (waitMs > 0) {
      return this.settleVerdicts(held, pass, judge(pass.rules, heldBack(planned), before), waitMs);
    }
    const { results, after } = await this.writer.changeAndLook(
      { held, driver, target, pass, allowance },
      planned,
    );
    const verdicts = after
      ? judge(pass.rules, results, after)
      : judge(pass.rules, results, before).map((verdict) => unseen(verdict, results));
    return this.settleVerdicts(held, pass, verdicts, longestWait(results));
  }

  /** The way into the cloud; null when there is none: then that is settled. */
  private async openFor(held: HeldLease, driver: ProviderDriver, pass: Pass): Promise<CloudTarget | null> {
    try {
      const { autocommit } = this.database;
      const claims = await claimsBefore(autocommit, this.stores.convergence, held, driver, pass);
      return await this.clouds.open({ ...held.place, ...pass.access }, claims);
    } catch (error) {
      await this.unreadable(held, pass, error);
      return null;
    }
  }

  /** What stands in the cloud; null when it could not be read: then that is settled. */
  private async read(
    held: HeldLease,
    driver: ProviderDriver,
    target: CloudTarget,
    pass: Pass,
  ): Promise<ObservedRule[] | null> {
    try {
      const rules = await driver.readRules(target);
      this.observer.looked(held.lease.provider, 'ok');
      return rules;
    } catch (error) {
      await this.unreadable(held, pass, error);
      return null;
    }
  }

  private async unreadable(held: HeldLease, pass: Pass, thrown: unknown): Promise<void> {
    const error = await this.isolation.asPassing(held, pass.rules, thrown);
    this.observer.looked(held.lease.provider, error.kind);
    const ownWay = (rule: DueRuleRow): boolean => isDeepStrictEqual(rule.writtenWith, pass.access);
    const missingMs = new Map(
      pass.rules.filter(ownWay).map((rule) => [rule.ruleId, rule.targetMissingMs ?? 0]),
    );
    const verdicts = judgeUnreadable(pass.rules, error.kind, error.message, missingMs);
    // one look will do for all of them: they come back together
    const attempts = Math.max(...pass.rules.map((rule) => rule.attempts));
    const chance = this.timing.random();
    const rules = verdicts.map((verdict, index) => {
      const rule = { ...pass.rules[index]!, attempts };
      const missing = error.kind === 'target-missing' && verdict.kind !== 'absent' && ownWay(rule);
      return {
        ...settlement(rule, verdict, false, error.retryAfterMs, chance),
        targetMissing: missing || null,
      };
    });
    await this.settlePass(held, pass, rules, false, PASSING_KINDS.has(error.kind));
  }

  private settleVerdicts(
    held: HeldLease,
    pass: Pass,
    verdicts: readonly Verdict[],
    waitMs: number | null = null,
  ): Promise<RuleSettlement[]> {
    // those that failed alike come back together, in one call
    const chance = this.timing.random();
    const rules = verdicts.map((verdict, index) =>
      settlement(pass.rules[index]!, verdict, true, waitMs, chance),
    );
    return this.settlePass(held, pass, rules, true);
  }

  private async settlePass(
    held: HeldLease,
    pass: Pass,
    found: readonly RuleSettlement[],
    looked: boolean,
    together = false,
  ): Promise<RuleSettlement[]> {
    const rules = keptDue(found, pass);
    held.saw(rules.filter((rule) => !rule.inFlight && rule.state !== null).map((rule) => rule.ruleId));
    await this.settle(held, { rules, access: pass.access, looked, waiting: pass.waiting, together });
    return rules;
  }

  /** @throws LeaseLost after asking whoever has the lease now to look again at what this worker may have changed */
  private async settle(held: HeldLease, found: Omit<Settlement, 'giveUpSeconds'>): Promise<void> {
    const whole: Settlement = { ...found, giveUpSeconds: APPLY_GIVE_UP_MS / 1000 };
    const written = await closing((trail) =>
      this.database.repeatable((tx) => this.stores.settlements.settle(tx, held.lease, whole, trail)),
    );
    if (written) {
      for (const seconds of written.latenessSeconds) this.observer.closed(held.lease.provider, seconds);
      return;
    }
    await this.stores.convergence.lookAgain(
      this.database.autocommit,
      found.rules.map((rule) => rule.ruleId),
    );
    throw new LeaseLost(held.lease.targetId);
  }
}
