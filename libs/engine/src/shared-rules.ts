import type { RuleSettlement } from '#rules';
import { accessKey, type Pass } from './passes';

/** Rules of one round that wait for several access paths. */
export class SharedRules {
  /** access paths that have not shown the rule yet, by rule and revision: a rule that changed since may have further paths */
  private readonly open = new Map<string, Set<string>>();

  constructor(passes: readonly Pass[]) {
    for (const { access, rules, shared } of passes)
      for (const rule of rules.filter(({ ruleId }) => shared.has(ruleId))) {
        const paths = this.open.get(nameOf(rule)) ?? new Set();
        this.open.set(nameOf(rule), paths.add(accessKey(access)));
      }
  }

  /**
   * Keeps shared rules due until each path has shown them present, because a pass of one of them may fail. Not longer: a due
   * rule keeps the other rules of its holders from being settled, and the next batch may be without it.
   */
  keepDue(found: readonly RuleSettlement[], { access, shared }: Pass): RuleSettlement[] {
    return found.map((rule) => {
      if (!shared.has(rule.ruleId) || rule.dueInMs !== null) return rule;
      const paths = this.open.get(nameOf(rule));
      if (rule.state === 'present') paths?.delete(accessKey(access));
      return paths?.size === 0 ? rule : { ...rule, dueInMs: 0 };
    });
  }
}

const nameOf = ({ ruleId, revision }: Pick<RuleSettlement, 'ruleId' | 'revision'>): string =>
  `${ruleId} ${revision}`;
