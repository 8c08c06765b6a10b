import { bareAddress } from '../cidr';
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

/** A rule that lets a range in to everything. */
export const allTrafficRule = (
  provider: ProviderName,
  target: string,
  range: string,
  ours: boolean,
  providerRuleId = range,
): LedgerRule => ({
  provider,
  target,
  address: bareAddress(range),
  protocol: 'all',
  fromPort: null,
  toPort: null,
  ours,
  providerRuleId,
});

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

/** Selects open rules; undefined matches every value. */
export type RuleFilter = {
  readonly [Field in 'provider' | 'target' | 'address' | 'protocol' | 'fromPort' | 'toPort']?:
    | LedgerRule[Field]
    | undefined;
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

  /**
   * Records that an object's rules were replaced: rules are closed and opened when their traffic differs. Another owner alone,
   * as by a changed description or tag, neither opens nor closes a rule.
   */
  replace(before: readonly LedgerRule[], after: readonly LedgerRule[]): void {
    this.lastChange = this.clock.now();
    const [old, next] = [byKey(before), byKey(after)];
    for (const [key, rule] of old) if (!isSameTraffic(rule, next.get(key))) this.close(key);
    for (const [key, rule] of next) {
      const known = this.rules.get(key);
      if (known && isSameTraffic(rule, old.get(key))) this.rules.set(key, { ...known, ours: rule.ours });
      else this.open(key, rule);
    }
  }

  /** The open rules, oldest first. */
  list(filter: RuleFilter): OpenRule[] {
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    return [...this.rules.values()]
      .filter((rule) => wanted.every(([field, value]) => rule[field as keyof RuleFilter] === value))
      .sort((a, b) => a.since - b.since);
  }

  clear(): void {
    this.lastChange = this.clock.now();
    this.rules.clear();
    this.timeline.clear();
  }

  private open(key: string, rule: LedgerRule): void {
    const at = this.clock.now();
    this.rules.set(key, { ...rule, since: at });
    this.timeline.append({ at, event: 'opened', ...rule });
  }

  private close(key: string): void {
    const known = this.rules.get(key);
    if (!known) return;
    const { since: _, ...closed } = known;
    this.rules.delete(key);
    this.timeline.append({ at: this.clock.now(), event: 'closed', ...closed });
  }
}

const byKey = (rules: readonly LedgerRule[]): Map<string, LedgerRule> =>
  new Map(
    rules.map((rule) => [JSON.stringify([rule.provider, rule.target, rule.providerRuleId]), rule] as const),
  );

/** Of two rules with one id. */
const isSameTraffic = (rule: LedgerRule, other: LedgerRule | undefined): boolean =>
  other !== undefined && JSON.stringify({ ...rule, ours: null }) === JSON.stringify({ ...other, ours: null });
