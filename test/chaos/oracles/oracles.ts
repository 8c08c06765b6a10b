import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import { historyOf } from './history';
import { noLeak } from './o01-no-leak';
import { noLoss } from './o02-no-loss';
import { exactCount } from './o03-exact-count';
import { notEarly } from './o04-not-early';
import { unmanagedUntouched } from './o05-unmanaged-untouched';
import { tenantIsolation } from './o06-tenant-isolation';
import { legalStates } from './o07-legal-states';
import { audited } from './o08-audit';
import { boundedCalls } from './o09-bounded-calls';
import { statusReflectsObservation } from './o10-status-reflects-observation';
import { onePerKey } from './o11-one-per-key';
import { overdueReported } from './o12-overdue-reported';
import { removedIsGone } from './o13-removed-is-gone';
import { reportMatchesTimeline } from './o14-report-matches-timeline';

/** The guarantees that are checked after every scenario. */
const ORACLES: readonly Oracle[] = [
  noLeak,
  noLoss,
  exactCount,
  notEarly,
  unmanagedUntouched,
  tenantIsolation,
  legalStates,
  audited,
  boundedCalls,
  statusReflectsObservation,
  onePerKey,
  overdueReported,
  removedIsGone,
  reportMatchesTimeline,
];

/** Every violation of every oracle: `O1 (no rule …): AWS sg-1 203.0.113.7 tcp 22 is still present …`. */
export function judgeEvidence(evidence: Evidence): string[] {
  const history = historyOf(evidence);
  return ORACLES.flatMap((oracle) =>
    oracle.violations(evidence, history).map((message) => `${oracle.id} (${oracle.guarantee}): ${message}`),
  );
}
