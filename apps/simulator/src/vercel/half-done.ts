import { listOf, isAbout } from './openings';
import type { Condition, RuleInput } from './rule-input';

const MAX_VALUES = 75;

/** A rule of which only the first half of the changes to its list came through, removals first. */
export function halfDone(before: RuleInput | null, after: RuleInput): RuleInput {
  const old = before ? listOf(before) : [];
  const asked = listOf(after);
  const changes = [
    ...old.filter((address) => !asked.includes(address)),
    ...asked.filter((address) => !old.includes(address)),
  ];
  const done = new Set(changes.slice(0, Math.ceil(changes.length / 2)));
  const list = [
    ...old.filter((address) => !done.has(address)),
    ...[...done].filter((address) => !old.includes(address)),
  ];
  return {
    ...after,
    conditionGroup: after.conditionGroup.map(({ conditions }) => ({
      conditions: [...conditions.filter((condition) => !isAbout(condition, true)), ...listed(list)],
    })),
  };
}

function listed(list: readonly string[]): Condition[] {
  const conditions: Condition[] = [];
  for (let from = 0; from < list.length; from += MAX_VALUES) {
    const value = list.slice(from, from + MAX_VALUES);
    conditions.push({ type: 'ip_address', op: 'inc', neg: true, value });
  }
  return conditions;
}
