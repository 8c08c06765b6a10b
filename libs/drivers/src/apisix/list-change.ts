import type { ChangeResult, DriverErrorKind } from '#rules';
import { asCallFailure, CallFailure } from '../call-failure';
import type { CloudTarget, RuleChange } from '../provider-driver';
import type { AdminApi } from './admin-api';
import { planRewrite, resultsOf, type GuardedObject, type Rewrite } from './whitelist';

/** Kinds of refusals that additions may cause while removals are accepted. */
const ADDITION_FAILURES: ReadonlySet<DriverErrorKind> = new Set(['quota', 'invalid']);

/** Applies one batch of changes to one list in a single write, and reads the list back. */
export class ListChange {
  /**
   * @param before the object, just read. The gateway has no compare-and-set, so the write must follow quickly.
   * @param hasTime whether the driver call may still send
   */
  constructor(
    private readonly api: AdminApi,
    private readonly before: GuardedObject,
    private readonly claims: CloudTarget['claims'],
    private readonly hasTime: () => boolean,
  ) {}

  /** @returns one result for each change, in their order */
  async apply(changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const plan = planRewrite(this.before, changes, this.claims);
    const failure = await this.write(plan);
    if (!failure) return this.readBack(changes, plan);
    const results = changes.map((_, index) => plan.settled.get(index) ?? failure.changeResult);
    const removals = changes.filter(({ action }) => action === 'remove');
    const mayRemove = failure.settled && ADDITION_FAILURES.has(failure.kind);
    if (!mayRemove || removals.length === 0 || removals.length === changes.length) return results;
    const removed = await this.apply(removals);
    return changes.map(({ action }, index) => (action === 'remove' ? removed.shift()! : results[index]!));
  }

  /** @returns null when the list was written or did not change */
  private async write({ entries }: Rewrite): Promise<CallFailure | null> {
    if (!entries) return null;
    // A process that was suspended meanwhile would write an outdated list.
    if (!this.hasTime())
      return new CallFailure('transient', 'The time for the change was over before it was sent', null, true);
    try {
      await this.api.writeWhitelist(this.before.path, entries);
      return null;
    } catch (error) {
      return asCallFailure(error);
    }
  }

  /** If the read fails after the write, the outcomes are unknown. */
  private async readBack(changes: readonly RuleChange[], plan: Rewrite): Promise<ChangeResult[]> {
    if (!plan.entries) return resultsOf(this.before, changes, plan);
    try {
      return resultsOf(await this.api.read(this.before.path), changes, plan);
    } catch (error) {
      const { message } = asCallFailure(error);
      return changes.map((_, index) => plan.settled.get(index) ?? { result: 'unknown', message });
    }
  }
}
