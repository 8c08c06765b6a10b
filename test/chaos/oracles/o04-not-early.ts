import { CLOCK_TOLERANCE_MS } from './bounds';
import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';
import { wasChangedOutside } from './rule-name';
import { uncovered } from './spans';

export const notEarly: Oracle = {
  id: 'O4',
  guarantee: 'a rule that is shown as APPLIED is present until its holder ends',
  violations(evidence: Evidence, history: History): string[] {
    return [...history.holds].flatMap(([name, holds]) => {
      if (wasChangedOutside(evidence.outsideChanges, name)) return [];
      const presences = history.presences.get(name) ?? [];
      return holds.flatMap((hold) =>
        hold.applied.flatMap((applied) => {
          const whole = { from: applied.from, to: Math.min(applied.to - CLOCK_TOLERANCE_MS, evidence.at) };
          const missing = uncovered(whole, presences).find((gap) => gap.to - gap.from > CLOCK_TOLERANCE_MS);
          if (!missing) return [];
          const seconds = ((missing.to - missing.from) / 1000).toFixed(1);
          return [`${name} was missing for ${seconds} s while ${hold.sessionId ?? 'a static rule'} held it`];
        }),
      );
    });
  },
};
