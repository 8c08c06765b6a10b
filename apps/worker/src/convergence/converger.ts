import { isDeepStrictEqual } from 'node:util';
import type {
  Access,
  ConvergenceStore,
  Database,
  DueRuleRow,
  Intent,
  LeaseStore,
  RuleSettlement,
  Settlement,
  SettlementStore,
  WriteBudgetStore,
} from '#entities';
import { DriverError, type CloudTarget, type ProviderDriver, type RuleChange } from '#drivers';
import {
  APPLY_GIVE_UP_MS,
  judge,
  judgeUnreadable,
  planChanges,
  type ChangeResult,
  type DriverErrorKind,
  type ObservedRule,
  type PlannedChange,
  type Provider,
  type Verdict,
} from '#rules';
import type { CloudAccess } from '../clouds/cloud-access';
import { claimsAfter, claimsBefore } from './claims';
import { HeldLease, LeaseLost } from './held-lease';
import { passes, sortDue, type Pass } from './passes';
import type { Reconciler } from './reconciler';
import { settledLocally, settlement, stillDue } from './settle-rule';

export interface ConvergenceStores {
  readonly leases: LeaseStore;
  readonly convergence: ConvergenceStore;
  readonly settlements: SettlementStore;
  readonly budgets: WriteBudgetStore;
}

const MOST_ROUNDS = 25;
/** While adds keep a long distance, a removal that comes due is not to wait for them. */
const LOOK_WHILE_WAITING_MS = 1500;
const IN_FLIGHT_DEADLINES = 2;
/** Of an account's write budget, the share that adds leave to removals. */
const REMOVAL_RESERVE = 0.1;

/** Told of what happens, for those who watch. */
export interface ConvergenceObserver {
  looked(provider: Provider, outcome: 'ok' | DriverErrorKind): void;
  closed(provider: Provider, latenessSeconds: number): void;
}

/**
 * Makes one cloud object what the database wants it to be: take its lease, look at what is due, plan, change, look
 * again, write down what was seen. Whoever calls it, and how often, does not matter.
 */
export class Converger {
  constructor(
    private readonly database: Database,
    private readonly stores: ConvergenceStores,
    private readonly clouds: CloudAccess,
    private readonly reconciler: Reconciler,
    private readonly observer: ConvergenceObserver,
  ) {}

  /** Returns when nothing is due any more, or another worker has the object. */
  async converge(targetId: string): Promise<void> {
    const held = await HeldLease.take(this.database, this.stores.leases, targetId);
    if (!held) return;
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
      if (!(error instanceof LeaseLost)) throw error;
    } finally {
      await held.release();
    }
  }

  /** @returns false when nothing is due */
  private async round(held: HeldLease, driver: ProviderDriver): Promise<boolean> {
    const due = await this.dueWithDistance(held, driver);
    if (due.length === 0) return false;
    const { settled, kept, open } = sortDue(due);
    const local = [...settled.map(settledLocally), ...kept.map(stillDue)];
    if (local.length > 0) await this.settle(held, { rules: local, access: null, waiting: [] });
    for (const pass of passes(open)) await this.look(held, driver, pass);
    return true;
  }

  /** A write waits until the object's last one is a little past, and takes along what has come meanwhile. */
  private async dueWithDistance(held: HeldLease, driver: ProviderDriver): Promise<DueRuleRow[]> {
    await held.keep();
    const read = (): Promise<DueRuleRow[]> =>
      this.stores.convergence.due(this.database.autocommit, held.lease, driver.traits.batchSize);
    for (;;) {
      const due = await read();
      const { open } = sortDue(due);
      const addsOnly = open.every((rule) => rule.wanted);
      const wait = open.length === 0 ? 0 : held.untilSpaced(driver.traits.writeSpacing, addsOnly);
      if (wait === 0) return due;
      await new Promise((resolve) => setTimeout(resolve, Math.min(wait, LOOK_WHILE_WAITING_MS)));
      await held.keep();
    }
  }

  /** One look at the cloud, and one batch of changes, through one credential. */
  private async look(held: HeldLease, driver: ProviderDriver, pass: Pass): Promise<void> {
    await held.keep();
    let target: CloudTarget;
    let before: ObservedRule[];
    try {
      const { autocommit } = this.database;
      const claims = await claimsBefore(autocommit, this.stores.convergence, held, driver, pass);
      target = await this.clouds.open({ ...held.place, ...pass.access }, claims);
      before = await driver.readRules(target);
      this.observer.looked(held.lease.provider, 'ok');
    } catch (error) {
      const failure = asDriverError(error);
      this.observer.looked(held.lease.provider, failure.kind);
      await this.settleUnreadable(held, pass, failure);
      return;
    }
    const planned = planChanges(pass.rules, before);
    if (planned.length === 0) {
      await this.settleVerdicts(held, pass, judge(pass.rules, new Map(), before));
      return;
    }
    const waitMs = await this.takeBudget(driver, target, planned);
    if (waitMs > 0) {
      await this.settleVerdicts(held, pass, judge(pass.rules, refused(planned), before), waitMs);
      return;
    }
    const { results, retryAfterMs } = await this.change(held, driver, target, pass, planned);
    const after = await readOrNull(driver, { ...target, claims: claimsAfter(target.claims, pass, planned) });
    const verdicts = after
      ? judge(pass.rules, results, after)
      : judge(pass.rules, results, before).map((verdict) => unseen(verdict, results));
    await this.settleVerdicts(held, pass, verdicts, retryAfterMs);
  }

  private takeBudget(
    driver: ProviderDriver,
    target: CloudTarget,
    planned: readonly PlannedChange[],
  ): Promise<number> {
    const removes = planned.some((change) => change.action === 'remove');
    const adds = planned.some((change) => change.action === 'add');
    const { writeBudget, callPerRule } = driver.traits;
    return this.stores.budgets.take(
      this.database.autocommit,
      driver.accountKey(target),
      writeBudget,
      callPerRule ? planned.length : Number(removes) + Number(adds),
      removes ? 0 : writeBudget.burst * REMOVAL_RESERVE,
    );
  }

  /** Notes the intent, then sends the changes. What was sent and not answered is unknown. */
  private async change(
    held: HeldLease,
    driver: ProviderDriver,
    target: CloudTarget,
    pass: Pass,
    planned: readonly PlannedChange[],
  ): Promise<{ results: Map<string, ChangeResult>; retryAfterMs: number | null }> {
    await held.keep();
    const ofAction = (action: PlannedChange['action']): string[] =>
      planned.filter((change) => change.action === action).map((change) => change.ruleId);
    const noted = await this.stores.convergence.recordIntent(
      this.database.autocommit,
      held.lease,
      {
        additions: ofAction('add'),
        removals: ofAction('remove'),
        access: pass.access,
        wholeList: driver.traits.wholeList ?? false,
      },
      horizonSeconds(driver),
    );
    if (!noted) throw new LeaseLost(held.lease.targetId);
    held.wrote(planned.length);
    const changes = planned.map((change) => toRuleChange(change, pass.rules, target.deployment));
    try {
      const results = await held.during(() => driver.applyChanges(target, changes));
      await this.noteAnswer(held, driver, noted, results);
      return {
        results: new Map(changes.map((change, index) => [change.ruleId, results[index]!])),
        retryAfterMs: null,
      };
    } catch (error) {
      const { kind, message, retryAfterMs } = asDriverError(error);
      await this.noteAnswer(held, driver, noted, []);
      return {
        results: new Map(changes.map(({ ruleId }) => [ruleId, { result: 'refused', kind, message }])),
        retryAfterMs,
      };
    }
  }

  /** A list that may still be written by a call nobody heard of is looked at again when it no longer can. */
  private async noteAnswer(
    held: HeldLease,
    driver: ProviderDriver,
    intent: Intent,
    results: readonly ChangeResult[],
  ): Promise<void> {
    if (!driver.traits.wholeList) return;
    const isUnheard = results.some(({ result }) => result === 'unknown');
    if (isUnheard) await this.reconciler.askIn(held, horizonSeconds(driver));
    else await this.stores.convergence.heard(this.database.autocommit, held.lease, intent);
  }

  private async settleUnreadable(held: HeldLease, pass: Pass, error: DriverError): Promise<void> {
    const ownWay = (rule: DueRuleRow): boolean => isDeepStrictEqual(rule.writtenWith, pass.access);
    const missingMs = new Map(
      pass.rules.filter(ownWay).map((rule) => [rule.ruleId, rule.targetMissingMs ?? 0]),
    );
    const verdicts = judgeUnreadable(pass.rules, error.kind, error.message, missingMs);
    const rules = verdicts.map((verdict, index) => {
      const rule = pass.rules[index]!;
      const missing = error.kind === 'target-missing' && verdict.kind !== 'absent' && ownWay(rule);
      return { ...settlement(rule, verdict, false, error.retryAfterMs), targetMissing: missing || null };
    });
    await this.settle(held, { rules, access: null, waiting: pass.waiting });
  }

  private async settleVerdicts(
    held: HeldLease,
    pass: Pass,
    verdicts: readonly Verdict[],
    waitMs: number | null = null,
  ): Promise<void> {
    const rules = verdicts.map((verdict, index) => settlement(pass.rules[index]!, verdict, true, waitMs));
    await this.settle(held, { rules, access: pass.access, waiting: pass.waiting });
  }

  /** @throws LeaseLost after asking whoever has the lease now to look again at what this worker may have changed */
  private async settle(
    held: HeldLease,
    found: { rules: RuleSettlement[]; access: Access | null; waiting: readonly string[] },
  ): Promise<void> {
    const whole: Settlement = { ...found, giveUpSeconds: APPLY_GIVE_UP_MS / 1000 };
    const written = await this.database.transaction((tx) =>
      this.stores.settlements.settle(tx, held.lease, whole),
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

function toRuleChange(change: PlannedChange, rules: readonly DueRuleRow[], deployment: string): RuleChange {
  if (change.action === 'remove') return change;
  const rule = rules.find(({ ruleId }) => ruleId === change.ruleId)!;
  return {
    action: 'add',
    ruleId: rule.ruleId,
    spec: rule.spec,
    config: rule.holders.find(({ status }) => status !== 'REMOVING')?.config ?? {},
    mark: { deployment, ruleId: rule.ruleId, expiresAt: lastEnd(rule) },
  };
}

/** By then a call that nobody heard of has landed or never will. */
const horizonSeconds = ({ traits }: ProviderDriver): number =>
  (IN_FLIGHT_DEADLINES * traits.callTimeoutMs) / 1000;

/** When the last of its holders ends; null: one has no end. */
function lastEnd({ holders }: DueRuleRow): number | null {
  const ends = holders.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [expiresAt]));
  return ends.length < holders.length ? null : Math.max(...ends);
}

/** Changes held back because the account's write budget is spent. */
function refused(planned: readonly PlannedChange[]): Map<string, ChangeResult> {
  const message = 'Waiting for the cloud account to allow more changes';
  return new Map(planned.map(({ ruleId }) => [ruleId, { result: 'refused', kind: 'throttled', message }]));
}

/** The look after the change failed: what was changed is not settled, whatever the look before showed. */
function unseen(verdict: Verdict, results: ReadonlyMap<string, ChangeResult>): Verdict {
  const result = results.get(verdict.ruleId);
  if (!result || verdict.kind === 'retry' || verdict.kind === 'failed') return verdict;
  return { ruleId: verdict.ruleId, kind: 'retry', message: null, unknown: result.result === 'unknown' };
}

async function readOrNull(driver: ProviderDriver, target: CloudTarget): Promise<ObservedRule[] | null> {
  try {
    return await driver.readRules(target);
  } catch (error) {
    if (error instanceof DriverError) return null;
    throw error;
  }
}

function asDriverError(error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  throw error;
}
