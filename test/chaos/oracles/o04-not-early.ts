import { CLOCKS_MS } from './bounds';
import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';
import { byOutsideHand } from './rule-name';
import { uncovered } from './spans';

export const notEarly: Oracle = {
  id: 'O4',
  promise: 'a rule that was shown as APPLIED stands until its holder ends',
  violations(evidence: Evidence, history: History): string[] {
    return [...history.holds].flatMap(([name, holds]) => {
      if (byOutsideHand(evidence.outsideHands, name)) return [];
      const standings = history.standings.get(name) ?? [];
      return holds.flatMap((hold) =>
        hold.applied.flatMap((applied) => {
          const whole = { from: applied.from, to: Math.min(applied.to - CLOCKS_MS, evidence.at) };
          const missing = uncovered(whole, standings).find((gap) => gap.to - gap.from > CLOCKS_MS);
          if (!missing) return [];
          const seconds = ((missing.to - missing.from) / 1000).toFixed(1);
          return [`${name} was missing for ${seconds} s while ${hold.sessionId ?? 'a static rule'} held it`];
        }),
      );
    });
  },
};
