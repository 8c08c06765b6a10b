import type { ConvergenceStore, Transactions } from '#entities';
import type { CloudTarget, ProviderDriver, RuleChange } from '#drivers';
import type { ChangeResult, ObservedRule, PlannedChange } from '#rules';
import type { Timing } from '../timing';
import {
  asDriverError,
  horizonMs,
  isRoomless,
  notSent,
  readOrNull,
  removalsOf,
  toRuleChange,
} from './changes';
import { LeaseLost, type HeldLease } from './held-lease';
import type { Pass } from './passes';
import type { Reconciler } from './reconciler';
import { claimsAfter, noteAnswer } from './whole-list';
import { plannedChanges, type WriteAllowance } from './write-allowance';

/** A cloud object whose lease is held, and the way into it for one pass. */
export interface OpenObject {
  readonly held: HeldLease;
  readonly driver: ProviderDriver;
  readonly target: CloudTarget;
  readonly pass: Pass;
  readonly allowance: WriteAllowance;
}

/** Writes into cloud objects: never without an intent in the database first, and never on a lease that may be gone. */
export class ObjectWriter {
  constructor(
    private readonly database: Transactions,
    private readonly convergence: ConvergenceStore,
    private readonly reconciler: Pick<Reconciler, 'superfluous' | 'askIn'>,
    private readonly timing: Timing,
  ) {}

  /**
   * When the object is full, what stands in it of ours and nobody wants is taken out, and what found no room is tried
   * once more.
   */
  async changeAndLook(
    way: OpenObject,
    planned: readonly PlannedChange[],
  ): Promise<{ results: Map<string, ChangeResult>; after: ObservedRule[] | null }> {
    const { held, driver, target, pass, allowance } = way;
    const results = await this.change(way, planned);
    allowance.spent();
    const noted = { ...target, claims: claimsAfter(target.claims, pass, planned) };
    const after = await readOrNull(driver, noted);
    const roomless = planned.filter((change) => change.action === 'add' && isRoomless(results, change));
    if (!after || roomless.length === 0) return { results, after };
    const removals = removalsOf(await this.reconciler.superfluous(held, after), driver.traits.batchSize);
    if (removals.length === 0) return { results, after };
    const more = [...removals, ...roomless];
    if ((await allowance.take(held, plannedChanges(more))) > 0) return { results, after };
    const again = await this.change(way, more);
    return { results: new Map([...results, ...again]), after: await readOrNull(driver, noted) };
  }

  /** Notes the intent, then sends the changes. What was sent and not answered is unknown. */
  private async change(
    { held, driver, target, pass }: OpenObject,
    planned: readonly PlannedChange[],
  ): Promise<Map<string, ChangeResult>> {
    await held.keep();
    const ofAction = (action: PlannedChange['action']): string[] =>
      planned.filter((change) => change.action === action).map((change) => change.ruleId);
    held.asks(driver.traits.wholeList ? 'all' : planned.map(({ ruleId }) => ruleId));
    const intentAt = this.timing.now();
    const noted = await this.convergence.recordIntent(
      this.database.autocommit,
      held.lease,
      {
        additions: ofAction('add'),
        removals: ofAction('remove'),
        access: pass.access,
        wholeList: driver.traits.wholeList ?? false,
      },
      horizonMs(driver) / 1000,
    );
    if (!noted) throw new LeaseLost(held.lease.targetId);
    held.mustBeCertain(intentAt, driver.traits.callTimeoutMs);
    held.wrote(planned.length);
    const changes = planned.map((change) => toRuleChange(change, pass.rules, target.deployment));
    const results = await this.send(held, driver, target, changes);
    if (driver.traits.wholeList)
      await noteAnswer(this.database.autocommit, this.convergence, this.reconciler, {
        held,
        intent: noted,
        results: [...results.values()],
        horizonMs: horizonMs(driver),
      });
    return results;
  }

  private async send(
    held: HeldLease,
    driver: ProviderDriver,
    target: CloudTarget,
    changes: readonly RuleChange[],
  ): Promise<Map<string, ChangeResult>> {
    try {
      const results = await held.during(() => driver.applyChanges(target, changes));
      return new Map(changes.map((change, index) => [change.ruleId, results[index]!]));
    } catch (error) {
      return notSent(changes, asDriverError(error));
    }
  }
}
