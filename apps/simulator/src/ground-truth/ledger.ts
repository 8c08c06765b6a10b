import type { ProviderName } from '../provider-name';
import type { Clock } from './clock';
import { Journal } from './journal';

/** A rule of a target, in a form that is the same for every provider. */
export interface LedgerRule {
  readonly provider: ProviderName;
  /** the target, as the cloud names it */
  readonly target: string;
  /** a single address bare (`203.0.113.7`), a range as canonical CIDR */
  readonly address: string;
  /** `tcp`, `udp`, `icmp`, `icmpv6`, `all` or a protocol number */
  readonly protocol: string;
  /** null: the protocol has no ports, or all of them are open */
  readonly fromPort: number | null;
  readonly toPort: number | null;
  /** carries an ownership mark of Drawbridge */
  readonly ours: boolean;
  readonly providerRuleId: string;
}

export interface OpenRule extends LedgerRule {
  /** microseconds since 1970 */
  readonly since: number;
}

export interface TimelineEntry extends LedgerRule {
  /** microseconds since 1970, strictly increasing */
  readonly at: number;
  readonly event: 'opened' | 'closed';
}

const TIMELINE_CAPACITY = 200_000;
const MARK_PREFIX = 'drawbridge:';

/** Whether one of a rule's texts (description, tag key, tag value) is an ownership mark of Drawbridge. */
export const carriesMark = (texts: readonly (string | undefined)[]): boolean =>
  texts.some((text) => text?.startsWith(MARK_PREFIX));

/** Whether two lists of rules allow the same traffic, ignoring ownership. */
export const isSameTraffic = (some: readonly LedgerRule[], others: readonly LedgerRule[]): boolean => {
  const traffic = (rules: readonly LedgerRule[]): string =>
    JSON.stringify(rules.map((rule) => ({ ...rule, ours: null })));
  return traffic(some) === traffic(others);
};

/** Ground truth: the open rules, and a timeline of their changes since the start or the last reset. */
export class Ledger {
  readonly timeline = new Journal<TimelineEntry>(TIMELINE_CAPACITY);
  private readonly rules = new Map<string, OpenRule>();
  private lastChange = 0;

  constructor(private readonly clock: Clock) {}

  /** Time of the last change, microseconds since 1970; 0: never. */
  get changedAt(): number {
    return this.lastChange;
  }

  /** Records that a rule was opened. @returns the time, microseconds since 1970 */
  open(rule: LedgerRule): number {
    const at = this.change();
    this.rules.set(keyOf(rule), { ...rule, since: at });
    this.timeline.append({ at, event: 'opened', ...rule });
    return at;
  }

  /** Records that a rule was closed. @returns the time, microseconds since 1970 */
  close(rule: Pick<LedgerRule, 'provider' | 'target' | 'providerRuleId'>): number {
    const at = this.change();
    const known = this.rules.get(keyOf(rule));
    if (known) {
      const { since: _, ...closed } = known;
      this.rules.delete(keyOf(rule));
      this.timeline.append({ at, event: 'closed', ...closed });
    }
    return at;
  }

  /** Changes a rule's ownership without opening or closing it, as a changed description or tag does. */
  relabel(rule: Pick<LedgerRule, 'provider' | 'target' | 'providerRuleId'>, ours: boolean): void {
    const known = this.rules.get(keyOf(rule));
    if (known) this.rules.set(keyOf(rule), { ...known, ours });
    this.change();
  }

  /** The open rules, oldest first. */
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

const keyOf = (rule: Pick<LedgerRule, 'provider' | 'target' | 'providerRuleId'>): string =>
  JSON.stringify([rule.provider, rule.target, rule.providerRuleId]);
