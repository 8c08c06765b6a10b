import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import { historyOf } from './history';
import { noLeak } from './o01-no-leak';
import { noLoss } from './o02-no-loss';
import { exactCount } from './o03-exact-count';
import { notEarly } from './o04-not-early';
import { unmanagedUntouched } from './o05-unmanaged-untouched';
import { tenantWall } from './o06-tenant-wall';
import { legalStates } from './o07-legal-states';
import { audited } from './o08-audit';
import { boundedCalls } from './o09-bounded-calls';
import { honestApi } from './o10-honest-api';
import { onePerKey } from './o11-one-per-key';
import { overdueReported } from './o12-overdue-reported';
import { removedIsGone } from './o13-removed-is-gone';
import { reportMatchesTimeline } from './o14-report-matches-timeline';

/** All that must hold after every scenario, whatever happened in it. */
export const ORACLES: readonly Oracle[] = [
  noLeak,
  noLoss,
  exactCount,
  notEarly,
  unmanagedUntouched,
  tenantWall,
  legalStates,
  audited,
  boundedCalls,
  honestApi,
  onePerKey,
  overdueReported,
  removedIsGone,
  reportMatchesTimeline,
];

/** Every violation of every oracle: `O1 (no rule …): AWS sg-1 203.0.113.7 tcp 22 still stands …`. */
export function judgeEvidence(evidence: Evidence): string[] {
  const history = historyOf(evidence);
  return ORACLES.flatMap((oracle) =>
    oracle.violations(evidence, history).map((words) => `${oracle.id} (${oracle.promise}): ${words}`),
  );
}
