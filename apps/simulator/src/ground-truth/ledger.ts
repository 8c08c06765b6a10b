import type { ProviderName } from '../provider-name';
import type { Clock } from './clock';
import { Journal } from './journal';

/** One opening in a target, told the same way for every provider. */
export interface Opening {
  readonly provider: ProviderName;
  /** the target, as the cloud names it */
  readonly target: string;
  /** a single address bare (`203.0.113.7`), a range as canonical CIDR */
  readonly address: string;
  /** `tcp`, `udp`, `icmp`, `icmpv6`, `all` or a protocol number */
  readonly protocol: string;
  /** null: the protocol has no ports, or the opening holds for all of it */
  readonly fromPort: number | null;
  readonly toPort: number | null;
  /** carries a mark of Drawbridge */
  readonly ours: boolean;
  readonly providerRuleId: string;
}

export interface OpenRule extends Opening {
  /** microseconds since 1970 */
  readonly since: number;
}

export interface TimelineEntry extends Opening {
  /** microseconds since 1970, strictly increasing */
  readonly at: number;
  readonly event: 'opened' | 'closed';
}

const TIMELINE_CAPACITY = 200_000;
const MARK_PREFIX = 'drawbridge:';

/** True when one of the texts on a rule (description, tag key, tag value) is a mark of Drawbridge. */
export const carriesMark = (texts: readonly (string | undefined)[]): boolean =>
  texts.some((text) => text?.startsWith(MARK_PREFIX));

/** Whether two lists of openings let in the same, whoever they belong to. */
export const isSameTraffic = (some: readonly Opening[], others: readonly Opening[]): boolean => {
  const traffic = (openings: readonly Opening[]): string =>
    JSON.stringify(openings.map((opening) => ({ ...opening, ours: null })));
  return traffic(some) === traffic(others);
};

/** Ground truth: what is open now, and every opening and closing since the start or the last reset. */
export class Ledger {
  readonly timeline = new Journal<TimelineEntry>(TIMELINE_CAPACITY);
  private readonly rules = new Map<string, OpenRule>();
  private lastChange = 0;

  constructor(private readonly clock: Clock) {}

  /** When something was opened, closed or relabelled last, microseconds since 1970; 0: never. */
  get changedAt(): number {
    return this.lastChange;
  }

  /** Records an opening. @returns its time, microseconds since 1970 */
  open(opening: Opening): number {
    const at = this.change();
    this.rules.set(keyOf(opening), { ...opening, since: at });
    this.timeline.append({ at, event: 'opened', ...opening });
    return at;
  }

  /** Records a closing. @returns its time, microseconds since 1970 */
  close(rule: Pick<Opening, 'provider' | 'target' | 'providerRuleId'>): number {
    const at = this.change();
    const known = this.rules.get(keyOf(rule));
    if (known) {
      const { since: _, ...opening } = known;
      this.rules.delete(keyOf(rule));
      this.timeline.append({ at, event: 'closed', ...opening });
    }
    return at;
  }

  /** A changed description or tag may make a rule ours or unmanaged without opening or closing anything. */
  relabel(rule: Pick<Opening, 'provider' | 'target' | 'providerRuleId'>, ours: boolean): void {
    const known = this.rules.get(keyOf(rule));
    if (known) this.rules.set(keyOf(rule), { ...known, ours });
    this.change();
  }

  /** What is open now, oldest first. */
  list(filter: { provider?: string | undefined; target?: string | undefined }): OpenRule[] {
    return [...this.rules.values()]
      .filter((rule) => (filter.provider ?? rule.provider) === rule.provider)
      .filter((rule) => (filter.target ?? rule.target) === rule.target)
      .sort((a, b) => a.since - b.since);
  }

  clear(): void {
    this.change();
    this.rules.clear();
    this.timeline.clear();
  }

  private change(): number {
    this.lastChange = this.clock.now();
    return this.lastChange;
  }
}

const keyOf = (rule: Pick<Opening, 'provider' | 'target' | 'providerRuleId'>): string =>
  JSON.stringify([rule.provider, rule.target, rule.providerRuleId]);
