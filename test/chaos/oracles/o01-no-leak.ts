import { CLOCKS_MS, deadline } from './bounds';
import type { CloudRule, Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History, Hold } from './history';
import { byOutsideHand, type RuleName } from './rule-name';
import { uncovered } from './spans';

/** A time in which a rule of ours stood although nobody held it any more. */
export interface Lingering {
  readonly name: RuleName;
  /** when its last holder ended, or it was opened without one; ms since 1970 */
  readonly due: number;
  /** when it was closed, or held again; infinity: it stands */
  readonly until: number;
  readonly endedBy: Hold['endedBy'];
  readonly rule: CloudRule;
  /** since when it was both present and unwanted: later than `due` where it was opened late */
  readonly from: number;
  /** whose end made it unwanted; null: it never had a holder */
  readonly lastHold: Hold | null;
  /** it was opened after its last holder had ended: the product has to find it first */
  readonly isUnexpected: boolean;
}

/** Every rule of ours that outlived its holders, for however short a time. */
export function lingering(history: History): Lingering[] {
  const found: Lingering[] = [];
  for (const [name, standings] of history.standings) {
    const holds = history.holds.get(name) ?? [];
    for (const standing of standings) {
      if (!standing.rule.ours) continue;
      for (const gap of uncovered(standing, holds)) {
        const last = holds.filter((hold) => hold.to <= gap.from).toSorted((a, b) => b.to - a.to)[0];
        found.push({
          name,
          due: last?.to ?? gap.from,
          until: gap.to,
          endedBy: last?.endedBy ?? null,
          rule: standing.rule,
          from: gap.from,
          lastHold: last ?? null,
          isUnexpected: last === undefined || standing.from > last.to + CLOCKS_MS,
        });
      }
    }
  }
  return found;
}

export const noLeak: Oracle = {
  id: 'O1',
  promise: 'no rule of ours stands longer than its bound after its last holder ended',
  violations(evidence: Evidence, history: History): string[] {
    return lingering(history).flatMap(({ name, due, until }) => {
      const latest = deadline(due, evidence.faults);
      if (Math.min(until, evidence.at) <= latest || byOutsideHand(evidence.outsideHands, name)) return [];
      const late = ((Math.min(until, evidence.at) - due) / 1000).toFixed(1);
      return [
        `${name} ${until === Infinity ? 'still stands' : 'was closed'} ${late} s after its last holder`,
      ];
    });
  },
};
