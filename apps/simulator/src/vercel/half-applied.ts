import { halfChanged } from '../faults/half-changed';
import { listOf, isAddressCondition } from './ledger-rules';
import type { Condition, RuleInput } from './rule-input';

const MAX_VALUES = 75;

/** A rule with only the first half of the changes to its list applied, removals first. */
export function halfApplied(before: RuleInput | null, after: RuleInput): RuleInput {
  const list = halfChanged(before ? listOf(before) : [], listOf(after));
  return {
    ...after,
    conditionGroup: after.conditionGroup.map(({ conditions }) => ({
      conditions: [
        ...conditions.filter((condition) => !isAddressCondition(condition, true)),
        ...conditionsFor(list),
      ],
    })),
  };
}

function conditionsFor(list: readonly string[]): Condition[] {
  const conditions: Condition[] = [];
  for (let from = 0; from < list.length; from += MAX_VALUES) {
    const value = list.slice(from, from + MAX_VALUES);
    conditions.push({ type: 'ip_address', op: 'inc', neg: true, value });
  }
  return conditions;
}
