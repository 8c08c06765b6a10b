import type { RuleChange } from '#drivers';
import type { DueRuleRow } from '#entities';
import type { PlannedChange } from '#rules';

/** A planned change as the driver takes it, with the mark it writes. */
export function toRuleChange(
  change: PlannedChange,
  rules: readonly DueRuleRow[],
  deployment: string,
): RuleChange {
  if (change.action === 'remove') return change;
  const rule = rules.find(({ ruleId }) => ruleId === change.ruleId)!;
  return {
    action: 'add',
    ruleId: rule.ruleId,
    spec: rule.spec,
    mark: { deployment, ruleId: rule.ruleId, expiresAt: lastEnd(rule) },
  };
}

/** When the last of its holders ends; null: one has no end. */
function lastEnd({ holders }: DueRuleRow): number | null {
  const ends = holders.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [expiresAt]));
  return ends.length < holders.length ? null : Math.max(...ends);
}
