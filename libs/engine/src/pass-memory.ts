import type { DueRuleRow } from '#engine-store';
import type { ChangeResult, Verdict } from '#rules';
import { accessKey, type Pass } from './access-paths';
import type { HeldLease } from './held-lease';
import type { PassOutcome } from './outcome';
import type { DueChange } from './provider-calls';
import type { Timing } from './timing';

const MIN_WAIT_MS = 1000;
const MAX_WAIT_MS = 30_000;

interface Denial {
  readonly until: number;
  readonly waitMs: number;
  readonly message: string;
}

type Target = Pick<HeldLease, 'lease'>;

/**
 * Access paths through which a target denied this worker's last additions. More of them wait, so that one organization's
 * denied credentials do not take turns from others on a shared target. Removals never wait for it, and neither does
 * anything on another target. Forgotten by another worker, which tries once.
 */
export class DeniedAdditions {
  private readonly last = new Map<string, Denial>();

  constructor(private readonly timing: Pick<Timing, 'now'>) {}

  /** @returns for how long the additions of a pass wait, and the provider's words; null: they do not wait */
  waitOf(target: Target, pass: Pass): Pick<Denial, 'waitMs' | 'message'> | null {
    const denial = this.last.get(keyOf(target, pass));
    const waitMs = (denial?.until ?? 0) - this.timing.now();
    return denial && waitMs > 0 && onlyAdds(pass) ? { waitMs, message: denial.message } : null;
  }

  note(target: Target, pass: Pass, outcome: PassOutcome): void {
    if (!onlyAdds(pass) || outcome.kind === 'postponed') return;
    const now = this.timing.now();
    for (const [key, { until }] of this.last) if (until + MAX_WAIT_MS < now) this.last.delete(key);
    const key = keyOf(target, pass);
    const message = denialOf(outcome);
    if (message === null) this.last.delete(key);
    else {
      const waitMs = Math.min(MAX_WAIT_MS, 2 * (this.last.get(key)?.waitMs ?? MIN_WAIT_MS / 2));
      this.last.set(key, { until: now + waitMs, waitMs, message });
    }
  }
}

const keyOf = ({ lease }: Target, { access }: Pass): string => `${lease.targetId} ${accessKey(access)}`;

const onlyAdds = ({ rules }: Pass): boolean => rules.every(({ desired }) => desired);

function denialOf(outcome: Exclude<PassOutcome, { kind: 'postponed' }>): string | null {
  if (outcome.kind === 'unreadable') return outcome.error.kind === 'denied' ? outcome.error.message : null;
  for (const result of outcome.results.values())
    if (result.result === 'refused' && result.kind === 'denied') return result.message;
  return null;
}

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
