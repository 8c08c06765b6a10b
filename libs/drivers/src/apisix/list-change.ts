import type { ChangeResult, DriverErrorKind } from '#rules';
import type { CloudTarget, RuleChange } from '../provider-driver';
import type { AdminApi } from './admin-api';
import { AdminFailure } from './admin-errors';
import { judged, rewrite, type GuardedObject, type Rewrite } from './whitelist';

/** What the gateway may have against additions while it takes removals. */
const OF_ADDITIONS: ReadonlySet<DriverErrorKind> = new Set(['quota', 'invalid']);

/** One batch of changes on one list, made in a single write and read back. */
export class ListChange {
  /**
   * @param before the object as it was just read: the gateway compares nothing with it, so the less time goes by the better
   * @param hasTime whether the driver's call may still send
   */
  constructor(
    private readonly api: AdminApi,
    private readonly before: GuardedObject,
    private readonly claims: CloudTarget['claims'],
    private readonly hasTime: () => boolean,
  ) {}

  /** @returns one result for each change, in their order */
  async make(changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const plan = rewrite(this.before, changes, this.claims);
    const failure = await this.write(plan);
    if (!failure) return this.readBack(changes, plan);
    const results = changes.map((_, index) => plan.settled.get(index) ?? failure.changeResult);
    const removals = changes.filter(({ action }) => action === 'remove');
    const mayRemove = failure.settled && OF_ADDITIONS.has(failure.kind);
    if (!mayRemove || removals.length === 0 || removals.length === changes.length) return results;
    const removed = await this.make(removals);
    return changes.map(({ action }, index) => (action === 'remove' ? removed.shift()! : results[index]!));
  }

  /** @returns null when the gateway took the list, or there was nothing to write */
  private async write({ entries }: Rewrite): Promise<AdminFailure | null> {
    if (!entries) return null;
    // A process that was stopped meanwhile would write a list that is no longer true.
    if (!this.hasTime())
      return new AdminFailure('transient', 'The time for the change was over before it was sent', true);
    try {
      await this.api.writeWhitelist(this.before.path, entries);
      return null;
    } catch (error) {
      return asFailure(error);
    }
  }

  /** What was written and cannot be read is neither done nor refused. */
  private async readBack(changes: readonly RuleChange[], plan: Rewrite): Promise<ChangeResult[]> {
    if (!plan.entries) return judged(this.before, changes, plan);
    try {
      return judged(await this.api.read(this.before.path), changes, plan);
    } catch (error) {
      const { message } = asFailure(error);
      return changes.map((_, index) => plan.settled.get(index) ?? { result: 'unknown', message });
    }
  }
}

/** The failure of a call; anything else is a defect and is thrown on. */
function asFailure(error: unknown): AdminFailure {
  if (error instanceof AdminFailure) return error;
  throw error;
}
