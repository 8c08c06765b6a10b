import { CLOCK_TOLERANCE_MS, deadline } from './bounds';
import type { CloudRule, Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History, Hold } from './history';
import { wasChangedOutside, type RuleName } from './rule-name';
import { uncovered } from './spans';

/** A time in which a rule of ours was present without a holder. */
export interface UnwantedRule {
  readonly name: RuleName;
  /** when its last holder ended, or it was opened without one; ms since 1970 */
  readonly due: number;
  /** when it was closed, or held again; infinity: it is present */
  readonly until: number;
  readonly endedBy: Hold['endedBy'];
  readonly rule: CloudRule;
  /** since when it was present and unwanted: later than `due` if it was opened late */
  readonly from: number;
  /** the last hold before; null: it never had a holder */
  readonly lastHold: Hold | null;
  /** it was opened after its last holder had ended: the product must detect it first */
  readonly isUnexpected: boolean;
}

/** All rules of ours that outlived their holders, for any time. */
export function unwantedRules(history: History): UnwantedRule[] {
  const found: UnwantedRule[] = [];
  for (const [name, presences] of history.presences) {
    const holds = history.holds.get(name) ?? [];
    for (const presence of presences) {
      if (!presence.rule.ours) continue;
      for (const gap of uncovered(presence, holds)) {
        const last = holds.filter((hold) => hold.to <= gap.from).toSorted((a, b) => b.to - a.to)[0];
        found.push({
          name,
          due: last?.to ?? gap.from,
          until: gap.to,
          endedBy: last?.endedBy ?? null,
          rule: presence.rule,
          from: gap.from,
          lastHold: last ?? null,
          isUnexpected: last === undefined || presence.from > last.to + CLOCK_TOLERANCE_MS,
        });
      }
    }
  }
  return found;
}

export const noLeak: Oracle = {
  id: 'O1',
  guarantee: 'no rule of ours is present longer than its bound after its last holder ended',
  violations(evidence: Evidence, history: History): string[] {
    return unwantedRules(history).flatMap(({ name, due, until }) => {
      const latest = deadline(due + (evidence.patienceMs ?? 0), evidence.faults);
      if (Math.min(until, evidence.at) <= latest || wasChangedOutside(evidence.outsideChanges, name))
        return [];
      const late = ((Math.min(until, evidence.at) - due) / 1000).toFixed(1);
      return [
        `${name} ${until === Infinity ? 'is still present' : 'was closed'} ${late} s after its last holder`,
      ];
    });
  },
};
