import { RECONCILE_INTERVAL_MS } from './bounds';
import type { Call, Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';

/** To look, to change, to look again. */
const CALLS_PER_STEP = 3;
/** Over the ideal, for two causes that come a moment apart. */
const FACTOR = 1.2;
/** The comparison that comes round every 45 seconds, and the one at the beginning. */
const FREE_STEPS = 4;
/** A page of rules that is read in one call. */
const PAGE_SIZE = 1000;
/** Backoff starts at half a second, is capped at half a minute and is drawn at random: steps that are no surprise. */
const USUAL_STEPS = 16;
const STEP_INTERVAL_MS = 4000;

export const boundedCalls: Oracle = {
  id: 'O9',
  promise: 'the cloud is called for a reason: a change of holders, or a step of backoff',
  violations(evidence: Evidence, history: History): string[] {
    return evidence.targets.flatMap((target) => {
      const calls = evidence.calls.filter((call) => call.target === target.identifier && isWork(call));
      const { causes, backoffs } = steps(evidence, history, target.id);
      const comparisons = FREE_STEPS + (evidence.at - evidence.begunAt) / RECONCILE_INTERVAL_MS;
      const rules = evidence.standing.filter((rule) => rule.target === target.identifier).length;
      const pages = Math.max(1, Math.ceil(rules / PAGE_SIZE));
      const allowed = Math.ceil(
        (causes + backoffs + evidence.kills + comparisons) * CALLS_PER_STEP * FACTOR * pages,
      );
      const found: string[] = [];
      if (calls.length > allowed)
        found.push(`${target.identifier} was called ${calls.length} times, ${allowed} would do`);
      return [...found, ...hotLoops(evidence, history, target)];
    });
  },
};

/** Calls of convergence: a dry run is somebody verifying a resource. */
const isWork = ({ outcome }: Call): boolean => outcome !== 'DryRunOperation';

/** The transactions after which the object had to be looked at, and those that put a look off. */
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
      // found missing, or lost to another worker: somebody else is the cause
      if (move.was === 'present' && move.now === 'absent') causes.add(move.xact);
    });
  }
  return { causes: causes.size, backoffs: backoffs.size };
}

/** Rules that were tried again and again without a pause. */
function hotLoops(
  evidence: Evidence,
  history: History,
  target: { id: string; identifier: string },
): string[] {
  const usual = USUAL_STEPS + (evidence.at - evidence.begunAt) / STEP_INTERVAL_MS;
  return [...history.rules].flatMap(([, moves]) => {
    if (moves[0]!.targetId !== target.id) return [];
    const tries = moves.filter((move, index) => move.attempts > (moves[index - 1]?.attempts ?? 0)).length;
    return tries > usual ? [`${moves[0]!.key} of ${target.identifier} was tried ${tries} times`] : [];
  });
}
