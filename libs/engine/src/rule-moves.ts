import type { LockedRules } from '#engine-store';
import type { Rule } from '#rules';

/** The moves of locked rules, one after the other, until they are saved. */
export class RuleMoves {
  private readonly before: ReadonlyMap<string, Rule>;
  private readonly after: Map<string, Rule>;

  constructor(readonly locked: LockedRules) {
    this.before = new Map(locked.rules.map((rule) => [rule.id, rule]));
    this.after = new Map(this.before);
  }

  /** Makes a move with each of these rules that is among the locked ones. @returns those it changed */
  make(ruleIds: readonly string[], move: (rule: Rule) => Rule): Rule[] {
    return ruleIds.flatMap((id) => {
      const rule = this.after.get(id);
      if (rule === undefined) return [];
      const moved = move(rule);
      this.after.set(id, moved);
      return moved === rule ? [] : [moved];
    });
  }

  /** These rules as they are now. */
  of(ruleIds: readonly string[]): Rule[] {
    return ruleIds.flatMap((id) => this.after.get(id) ?? []);
  }

  /** The rules to save. */
  get changed(): Rule[] {
    return [...this.after.values()].filter((rule) => rule !== this.before.get(rule.id));
  }
}
