import type { RuleRow, Tables } from './tables';

/** Marks the rule as absent. `possibleSince` stays while a call in doubt may still take effect. */
export function becomeAbsent(tables: Tables, rule: RuleRow, more: Partial<RuleRow>): void {
  const mayLand = rule.inFlightUntil !== null && rule.inFlightUntil > tables.now();
  const possibleSince = mayLand ? rule.possibleSince : null;
  const nothing = { possibleSince, presentSince: null, observedAt: null, removalSentAt: null };
  Object.assign(rule, { ...nothing, ...more, state: 'absent', revision: rule.revision + 1, attempts: 0 });
}
