import type { PassFacts } from '#rules';
import { accessKey, type Step } from './access-paths';
import type { HeldLease } from './held-lease';
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

  /** @returns for how long the additions of a step wait, and the provider's words; null: they do not wait */
  waitOf(target: Target, step: Step): Pick<Denial, 'waitMs' | 'message'> | null {
    const denial = this.last.get(keyOf(target, step));
    const waitMs = (denial?.until ?? 0) - this.timing.now();
    return denial && waitMs > 0 && onlyAdds(step) ? { waitMs, message: denial.message } : null;
  }

  note(target: Target, step: Step, facts: PassFacts): void {
    if (!onlyAdds(step)) return;
    const now = this.timing.now();
    for (const [key, { until }] of this.last) if (until + MAX_WAIT_MS < now) this.last.delete(key);
    const key = keyOf(target, step);
    const message = denialOf(facts);
    if (message === null) this.last.delete(key);
    else {
      const waitMs = Math.min(MAX_WAIT_MS, 2 * (this.last.get(key)?.waitMs ?? MIN_WAIT_MS / 2));
      this.last.set(key, { until: now + waitMs, waitMs, message });
    }
  }
}

const keyOf = ({ lease }: Target, { access }: Step): string => `${lease.targetId} ${accessKey(access)}`;

const onlyAdds = ({ rules }: Step): boolean => rules.every(({ desired }) => desired);

function denialOf({ error, sent }: PassFacts): string | null {
  if (error) return error.kind === 'denied' ? error.message : null;
  for (const { result } of sent.values())
    if (result.result === 'refused' && result.kind === 'denied') return result.message;
  return null;
}
