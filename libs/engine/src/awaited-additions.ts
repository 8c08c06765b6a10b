import type { DueRuleRow } from '#engine-store';
import type { ChangeResult, Verdict } from '#rules';
import type { DueChange } from './changes';
import type { Timing } from './timing';

/**
 * Additions of this worker that the provider answered as done and that no read has shown yet. They are not repeated while
 * reads may be stale: another one would only spend the account's write budget. Forgotten by another worker, which adds again.
 */
export class AwaitedAdditions {
  /** until when reads may be stale, by rule id */
  private readonly until = new Map<string, number>();

  constructor(private readonly timing: Pick<Timing, 'now'>) {}

  /** The planned changes without awaited additions. */
  without(planned: readonly DueChange[]): DueChange[] {
    const now = this.timing.now();
    return planned.filter(
      ({ action, rule }) => action === 'remove' || (this.until.get(rule.ruleId) ?? now) <= now,
    );
  }

  /** @param staleMs for how long a read may not show an addition */
  note(
    verdicts: readonly Verdict<DueRuleRow>[],
    results: ReadonlyMap<string, ChangeResult>,
    staleMs: number,
  ): void {
    const now = this.timing.now();
    for (const [ruleId, until] of this.until) if (until <= now) this.until.delete(ruleId);
    for (const { kind, rule } of verdicts) {
      const result = results.get(rule.ruleId)?.result;
      if (kind === 'retry' && rule.desired && result === 'done') this.until.set(rule.ruleId, now + staleMs);
      else if (kind !== 'retry' || result !== undefined) this.until.delete(rule.ruleId);
    }
  }
}
