import type { RuleRow, Tables } from './tables';

/** The rule is absent from now on; from when on it is possible stays while a call may still land. */
export function becomeAbsent(tables: Tables, rule: RuleRow, more: Partial<RuleRow>): void {
  const mayLand = rule.inFlightUntil !== null && rule.inFlightUntil > tables.now();
  const possibleSince = mayLand ? rule.possibleSince : null;
  const nothing = { possibleSince, presentSince: null, observedAt: null, removalSentAt: null };
  Object.assign(rule, { ...nothing, ...more, state: 'absent', revision: rule.revision + 1, attempts: 0 });
}
