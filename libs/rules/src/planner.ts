import type { AdditionCause, RemovalCause } from './cause';
import { Observed } from './observed-rules';
import type { RecordedRule } from './observed-rules';
import type { ObservedRule } from './provider';
import type { DueRule } from './due-rule';
import { endsTooEarly, nativeEnd, type ProviderClock } from './native-end';
import type { Rule as RuleRow } from './rule';

/** What planning needs of a due rule. */
export type Planned = Pick<
  DueRule,
  | 'ruleId'
  | 'key'
  | 'desired'
  | 'mayOpen'
  | 'inFlight'
  | 'isAwaited'
  | 'recordedId'
  | 'addCause'
  | 'removeCause'
  | 'holders'
>;

/**
 * Recorded rules of ours, for providers whose entries have no mark. A rule counts as ours from its recorded intent, which
 * follows a read that did not show it.
 * @returns rule ids by rule key
 */
export function claimsOf(
  rules: readonly (Pick<RuleRow, 'state' | 'isUnmanaged'> & Pick<DueRule, 'ruleId' | 'key'>)[],
): Map<string, string> {
  const ours = rules.filter((rule) => rule.state !== 'absent' && !rule.isUnmanaged);
  return new Map(ours.map((rule) => [rule.key, rule.ruleId]));
}

/** The keys of rules by their recorded provider ids, for providers that may show a changed rule without a key. */
export const recordedKeysOf = (
  rules: readonly Pick<RecordedRule, 'key' | 'recordedId'>[],
): Map<string, string> =>
  new Map(rules.flatMap(({ key, recordedId }) => (recordedId ? [[recordedId, key] as const] : [])));

/** A change of a rule, with its cause. */
export type PlannedChange<Rule extends Planned = Planned> =
  | {
      readonly action: 'add';
      readonly rule: Rule;
      readonly cause: AdditionCause;
      /** ids of what the rule has become by the hand of another program */
      readonly replaces?: readonly string[];
      /** the provider ends it then by itself, seconds since 1970 */
      readonly endsAt?: number;
    }
  | {
      readonly action: 'renew';
      readonly rule: Rule;
      readonly cause: AdditionCause;
      readonly endsAt: number;
    }
  | {
      readonly action: 'remove';
      readonly rule: Pick<Rule, 'ruleId'>;
      readonly providerRuleId: string;
      readonly cause: RemovalCause;
    };

/** A rule is ours by its mark or by its recorded provider id. */
export const isOurs = (
  { ownRuleId, providerRuleId }: Pick<ObservedRule, 'ownRuleId' | 'providerRuleId'>,
  recordedId: string | null | undefined,
): boolean => ownRuleId !== null || providerRuleId === recordedId;

/**
 * Plans the changes from observed to desired, removals first. Unmanaged rules are never removed; if one of them already
 * allows the traffic, no rule of ours is added.
 *
 * | desired | observed | change |
 * |---|---|---|
 * | yes | in force, ours or unmanaged | none |
 * | yes | ours, and ended by the provider before its holders end | renew, unless its last holder has expired |
 * | yes | not in force, or ours and changed by another program | add, unless its last holder has expired, or it was added a moment ago |
 * | no | ours by mark or recorded id, changed or not | remove |
 * | no | unmanaged | none |
 * | no | not present, and was observed before | remove by its recorded id: the read may be stale. Not while an earlier call is in flight |
 * | no | not present, never observed | none |
 */
export function planChanges<Rule extends Planned>(
  due: readonly Rule[],
  observed: readonly ObservedRule[],
  clock: ProviderClock | null = null,
): PlannedChange<Rule>[] {
  const index = new Observed(observed);
  const removals: PlannedChange<Rule>[] = [];
  const additions: PlannedChange<Rule>[] = [];
  for (const rule of due) {
    const isChanged = index.changeOf(rule) !== null;
    const isMissing = isChanged || (!index.inForce(rule) && !rule.isAwaited);
    const mayOpen = rule.desired && rule.mayOpen;
    const endsAt = clock && mayOpen ? nativeEnd(rule.holders, clock) : null;
    if (isMissing && mayOpen)
      additions.push({
        action: 'add',
        rule,
        cause: rule.addCause,
        ...(isChanged && { replaces: index.idsOf(rule) }),
        ...(endsAt !== null && { endsAt }),
      });
    else if (clock && endsAt !== null && endsTooEarly(index.ownEnd(rule), endsAt, clock))
      additions.push({ action: 'renew', rule, cause: rule.addCause, endsAt });
    const providerRuleId = rule.desired ? null : idToRemove(rule, index);
    if (providerRuleId !== null)
      removals.push({ action: 'remove', rule, providerRuleId, cause: rule.removeCause });
  }
  return [...removals, ...additions];
}

function idToRemove(rule: Planned, index: Observed): string | null {
  const present = index.present(rule);
  if (present && isOurs(present, rule.recordedId)) return present.providerRuleId;
  const [changed] = index.idsOf(rule);
  if (present || changed !== undefined) return changed ?? null;
  // not shown: sending the removal again while it is in flight would extend the wait without end
  return rule.inFlight ? null : (rule.recordedId ?? null);
}
