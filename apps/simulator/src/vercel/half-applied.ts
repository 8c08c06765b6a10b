import { listOf, isAddressCondition } from './ledger-rules';
import type { Condition, RuleInput } from './rule-input';

const MAX_VALUES = 75;

/** A rule with only the first half of the changes to its list applied, removals first. */
export function halfApplied(before: RuleInput | null, after: RuleInput): RuleInput {
  const old = before ? listOf(before) : [];
  const requested = listOf(after);
  const changes = [
    ...old.filter((address) => !requested.includes(address)),
    ...requested.filter((address) => !old.includes(address)),
  ];
  const applied = new Set(changes.slice(0, Math.ceil(changes.length / 2)));
  const list = [
    ...old.filter((address) => !applied.has(address)),
    ...[...applied].filter((address) => !old.includes(address)),
  ];
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
