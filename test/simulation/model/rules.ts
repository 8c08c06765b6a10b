import type { LockedRules, RuleStore } from '#engine-store';
import type { Rule } from '#rules';
import type { Modelled } from './modelled';
import type { RuleRow, Tables } from './tables';

/** `RuleStore` in memory. */
export class ModelRules implements Modelled<RuleStore> {
  constructor(private readonly tables: Tables) {}

  lock(targetId: string, ruleIds: readonly string[]): LockedRules {
    const chosen = new Set(ruleIds);
    return this.locked(targetId, ({ id }) => chosen.has(id));
  }

  lockAll(targetId: string): LockedRules {
    return this.locked(targetId, ({ state, dueAt }) => state !== 'absent' || dueAt !== null);
  }

  private locked(targetId: string, isMeant: (rule: RuleRow) => boolean): LockedRules {
    const now = this.tables.now();
    const { comparedAt } = this.tables.targets.get(targetId)!;
    const rules = this.tables.rulesOf(targetId).filter(isMeant);
    return { now, readAt: now, comparedAt, rules: rules.map((rule) => ({ ...rule })) };
  }

  save(rules: readonly Rule[]): void {
    for (const rule of rules) {
      const row = this.tables.rules.get(rule.id);
      if (row) Object.assign(row, rule);
    }
  }

  deleteUnheld(ruleIds: readonly string[]): string[] {
    const unheld = ruleIds.filter((id) => this.tables.holderRows({ id }).length === 0);
    for (const id of unheld) this.tables.deleteRule(id);
    return unheld;
  }
}
