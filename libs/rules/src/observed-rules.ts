import { grouped } from './grouped';
import type { ObservedRule } from './provider';
import type { TargetRule } from './rule';

/** A rule as it is recorded. */
export interface RecordedRule {
  readonly ruleId: string;
  /** `ruleKey` of its traffic */
  readonly key: string;
  /** the provider's id under which it was last observed as ours; undefined or null: it was not */
  readonly recordedId?: string | null;
}

/** A rule for people: its provider id and what it lets in. */
export const ruleName = ({ providerRuleId, key }: Pick<ObservedRule, 'providerRuleId' | 'key'>): string =>
  `${providerRuleId} (${key})`;

/** Keys listed in one text. */
const MAX_LISTED = 5;

/** Of the observed rules of a target those that are recorded rules now, whatever they let in. */
export class OwnRules {
  private readonly byId: ReadonlyMap<string, ObservedRule[]>;
  private readonly byMark: ReadonlyMap<string | null, ObservedRule[]>;

  constructor(observed: readonly ObservedRule[]) {
    this.byId = grouped(observed, ({ providerRuleId }) => providerRuleId);
    this.byMark = grouped(observed, ({ ownRuleId }) => ownRuleId);
  }

  /** All that its provider rule lets in: the one under its recorded id, else those with its mark. */
  of({ ruleId, key, recordedId }: RecordedRule): readonly ObservedRule[] {
    const recorded = recordedId ? this.byId.get(recordedId) : undefined;
    if (recorded) return recorded;
    const marked = this.byMark.get(ruleId) ?? [];
    const same = marked.find((rule) => rule.key === key);
    return same ? this.byId.get(same.providerRuleId)! : marked;
  }

  /** What its provider rule does besides what was written, or instead, as a phrase; null: nothing, or there is none. */
  changeOf(rule: RecordedRule): string | null {
    const shown = this.of(rule);
    const others = shown.filter(({ key }) => key !== rule.key);
    const listed = others.slice(0, MAX_LISTED).map(({ key }) => key);
    const more = others.length > MAX_LISTED ? ', …' : '';
    const lets = `it lets in ${listed.join(', ')}${more}${others.length < shown.length ? ' too' : ''}`;
    const difference = shown.find((one) => one.difference !== undefined)?.difference;
    const parts = [...(others.length > 0 ? [lets] : []), ...(difference === undefined ? [] : [difference])];
    return parts.length === 0 ? null : parts.join(', and ');
  }
}

/** Index of the observed rules of a target. */
export class Observed {
  private readonly byKey: ReadonlyMap<string, ObservedRule[]>;
  private readonly own: OwnRules;

  constructor(observed: readonly ObservedRule[]) {
    this.byKey = grouped(observed, ({ key }) => key);
    this.own = new OwnRules(observed);
  }

  /** The rule observed under the key; ours, if there are several. */
  present(rule: RecordedRule): ObservedRule | undefined {
    return oursAmong(this.byKey.get(rule.key) ?? [], rule);
  }

  /** As `present`, among the rules that are in force. */
  inForce(rule: RecordedRule): ObservedRule | undefined {
    return oursAmong(this.allInForce(rule.key), rule);
  }

  /** When the provider ends our rule, seconds since 1970; Infinity: never, or it is not shown. */
  ownEnd(rule: RecordedRule): number {
    const present = this.inForce(rule);
    return (present?.ownRuleId == null ? undefined : present.endsAt) ?? Infinity;
  }

  /** Why none of the rules under the key has an effect; null: one has, or none is present. */
  noEffect(key: string): string | null {
    return noEffect(this.allInForce(key));
  }

  /** What another program made of the rule, as a phrase; null: nothing. */
  changeOf(rule: RecordedRule): string | null {
    return this.own.changeOf(rule);
  }

  /** The id under which a rule with our mark is shown; null: there is none. */
  markedId(key: string): string | null {
    const marked = (this.byKey.get(key) ?? []).find(({ ownRuleId }) => ownRuleId !== null);
    return marked?.providerRuleId ?? null;
  }

  /** The ids under which the rule is shown as ours, whatever it lets in. */
  idsOf(rule: RecordedRule): string[] {
    return [...new Set(this.own.of(rule).map(({ providerRuleId }) => providerRuleId))];
  }

  private allInForce(key: string): ObservedRule[] {
    return (this.byKey.get(key) ?? []).filter(({ inForce }) => inForce !== false);
  }
}

/** The one of these that is ours; of unmanaged ones the first. */
const oursAmong = (shown: readonly ObservedRule[], { recordedId }: RecordedRule): ObservedRule | undefined =>
  shown.find(({ ownRuleId }) => ownRuleId !== null) ??
  shown.find(({ providerRuleId }) => providerRuleId === recordedId) ??
  shown[0];

/** The message of rules of one key when none of them has an effect; null: one has, or there are none. */
export const noEffect = (rules: readonly ObservedRule[]): string | null =>
  rules.every((rule) => rule.noEffect !== undefined) ? (rules[0]?.noEffect ?? null) : null;

/** Whether a read of a target shows its recorded rules in force, as they were written. */
export function showsAsWritten(
  targetId: string,
  observed: readonly ObservedRule[],
): (rule: TargetRule) => boolean {
  const index = new Observed(observed);
  return ({ id, key, isUnmanaged, providerRuleId, ...one }) => {
    if (one.targetId !== targetId) return false;
    const rule = { ruleId: id, key, recordedId: isUnmanaged ? null : providerRuleId };
    const isInForce = index.inForce(rule) !== undefined && index.noEffect(key) === null;
    return isInForce && index.changeOf(rule) === null;
  };
}
