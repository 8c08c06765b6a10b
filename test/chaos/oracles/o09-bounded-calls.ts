import { RECONCILE_INTERVAL_MS } from './bounds';
import type { Call, Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';

/** Read, write, read. */
const CALLS_PER_STEP = 3;
/** Tolerance for causes that occur shortly after each other. */
const FACTOR = 1.2;
/** Additional passes, such as the first comparison. */
const FREE_STEPS = 4;
/** Rules per read call. */
const PAGE_SIZE = 1000;
/** Expected retries: the backoff starts at 0.5 s, is capped at 30 s, and has full jitter. */
const EXPECTED_RETRIES = 16;
const RETRY_INTERVAL_MS = 4000;

export const boundedCalls: Oracle = {
  id: 'O9',
  guarantee: 'every cloud call has a cause: a change of holders, or a retry after backoff',
  violations(evidence: Evidence, history: History): string[] {
    return evidence.targets.flatMap((target) => {
      const calls = evidence.calls.filter((call) => call.target === target.identifier && isWork(call));
      const { causes, backoffs } = steps(evidence, history, target.id);
      const comparisons = FREE_STEPS + (evidence.at - evidence.begunAt) / RECONCILE_INTERVAL_MS;
      const rules = evidence.presentRules.filter((rule) => rule.target === target.identifier).length;
      const pages = Math.max(1, Math.ceil(rules / PAGE_SIZE));
      const allowed = Math.ceil(
        (causes + backoffs + evidence.kills + comparisons) * CALLS_PER_STEP * FACTOR * pages,
      );
      const found: string[] = [];
      if (calls.length > allowed)
        found.push(`${target.identifier} was called ${calls.length} times, at most ${allowed} expected`);
      return [...found, ...hotLoops(evidence, history, target)];
    });
  },
};

/** Excludes dry runs, which belong to the verification of a resource. */
const isWork = ({ outcome }: Call): boolean => outcome !== 'DryRunOperation';

/** The transactions that cause a pass on the target, and those that delay one by backoff. */
function steps(evidence: Evidence, history: History, targetId: string): { causes: number; backoffs: number } {
  const ofTarget = [...history.rules].filter(([, moves]) => moves[0]!.targetId === targetId);
  const ruleIds = new Set(ofTarget.map(([ruleId]) => ruleId));
  const ipIds = new Set<string>();
  const causes = new Set<string>();
  for (const move of evidence.moves) {
    if (move.kind === 'holder' && ruleIds.has(move.ruleId)) {
      ipIds.add(move.ipId);
      causes.add(move.xact);
    }
  }
  for (const ipId of ipIds) {
    for (const move of history.ips.get(ipId) ?? [])
      if (move.now !== 'APPLIED' && move.now !== 'REMOVED') causes.add(move.xact);
  }
  const backoffs = new Set<string>();
  for (const [, moves] of ofTarget) {
    moves.forEach((move, index) => {
      if (move.attempts > (moves[index - 1]?.attempts ?? 0)) backoffs.add(move.xact);
      // drift, or a change by another worker, is a cause too
      if (move.was === 'present' && move.now === 'absent') causes.add(move.xact);
    });
  }
  return { causes: causes.size, backoffs: backoffs.size };
}

/** Rules that were retried without backoff. */
function hotLoops(
  evidence: Evidence,
  history: History,
  target: { id: string; identifier: string },
): string[] {
  const expected = EXPECTED_RETRIES + (evidence.at - evidence.begunAt) / RETRY_INTERVAL_MS;
  return [...history.rules].flatMap(([, moves]) => {
    if (moves[0]!.targetId !== target.id) return [];
    const tries = moves.filter((move, index) => move.attempts > (moves[index - 1]?.attempts ?? 0)).length;
    return tries > expected ? [`${moves[0]!.key} of ${target.identifier} was tried ${tries} times`] : [];
  });
}
