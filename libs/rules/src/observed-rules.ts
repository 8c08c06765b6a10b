import { grouped } from './grouped';
import { OwnRules, type RecordedRule } from './own-rules';
import type { ObservedRule } from './provider';
import type { TargetRule } from './rule';

/** Index of the observed rules of a target. */
export class Observed {
  private readonly byKey: ReadonlyMap<string, ObservedRule[]>;
  private readonly own: OwnRules;

  constructor(observed: readonly ObservedRule[]) {
    this.byKey = grouped(observed, ({ key }) => key);
    this.own = new OwnRules(observed);
  }

  /** The rule observed under the key; ours, if there are several. */
  present({ key, recordedId }: RecordedRule): ObservedRule | undefined {
    const same = this.byKey.get(key) ?? [];
    return (
      same.find(({ ownRuleId }) => ownRuleId !== null) ??
      same.find(({ providerRuleId }) => providerRuleId === recordedId) ??
      same[0]
    );
  }

  /** As `present`, among the rules that are in force. */
  inForce({ key, recordedId }: RecordedRule): ObservedRule | undefined {
    const same = (this.byKey.get(key) ?? []).filter(({ inForce }) => inForce !== false);
    return (
      same.find(({ ownRuleId }) => ownRuleId !== null) ??
      same.find(({ providerRuleId }) => providerRuleId === recordedId) ??
      same[0]
    );
  }

  /** When the provider ends our rule, seconds since 1970; Infinity: never, or it is not shown. */
  ownEnd(rule: RecordedRule): number {
    const present = this.inForce(rule);
    return (present?.ownRuleId == null ? undefined : present.endsAt) ?? Infinity;
  }

  /** Why none of the rules under the key has an effect; null: one has, or none is present. */
  noEffect(key: string): string | null {
    return noEffect((this.byKey.get(key) ?? []).filter(({ inForce }) => inForce !== false));
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
}

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
