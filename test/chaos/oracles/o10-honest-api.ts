import { CLOCKS_MS, isUnderFault } from './bounds';
import type { Evidence, IpMove } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';
import type { RuleName } from './rule-name';
import { covers, touches, uncovered, type Span } from './spans';

const READ = /^(Describe|List|Get|Read)/i;
/** A read answers with what is so at some time between its arrival and this, in ms; under fault it may be slow. */
const READ_TAKES_MS = 250;
const SLOW_READ_TAKES_MS = 10_000;

export const honestApi: Oracle = {
  id: 'O10',
  promise: 'APPLIED is shown after presence was seen in the cloud, REMOVED after absence was',
  violations(evidence: Evidence, history: History): string[] {
    const names = namesOf(evidence, history);
    return [...history.ips].flatMap(([ipId, moves]) =>
      moves.flatMap((move, index) => {
        if (move.seeded || (move.now !== 'APPLIED' && move.now !== 'REMOVED')) return [];
        const since = moves[index - 1]?.at ?? evidence.begunAt;
        const lies = (names.get(ipId) ?? []).filter((name) =>
          move.now === 'APPLIED'
            ? !wasSeen(evidence, history, name, { from: since, to: move.at })
            : !wasMissed(evidence, history, name, move),
        );
        return lies.map((name) => `${name} was called ${move.now} and nobody had seen that it was`);
      }),
    );
  },
};

/** The rules each address wants, by its id. */
function namesOf(evidence: Evidence, history: History): Map<string, RuleName[]> {
  const names = new Map<string, RuleName[]>();
  for (const move of evidence.moves) {
    if (move.kind !== 'holder' || move.now === null) continue;
    const name = history.ruleNames.get(move.ruleId);
    // a holder that was let go of before belongs to another place: the address moved
    const stays = !evidence.moves.some(
      (other) =>
        other.kind === 'holder' &&
        other.now === null &&
        other.ruleId === move.ruleId &&
        other.ipId === move.ipId,
    );
    if (name && stays) names.set(move.ipId, [...(names.get(move.ipId) ?? []), name]);
  }
  return names;
}

/** The times at which somebody who read the object may have seen how it was. */
function looks(evidence: Evidence, name: RuleName, within: Span): Span[] {
  const target = name.split(' ')[1];
  return evidence.calls
    .filter((call) => call.target === target && call.outcome === 'OK' && READ.test(call.operation))
    .filter((call) => call.at >= within.from - CLOCKS_MS && call.at <= within.to + CLOCKS_MS)
    .map(({ at }) => {
      const slow = isUnderFault(at, at, evidence.faults);
      const done = at + (slow ? SLOW_READ_TAKES_MS : READ_TAKES_MS);
      return { from: Math.max(at, within.from), to: Math.min(done, within.to + CLOCKS_MS) };
    });
}

const wasSeen = (evidence: Evidence, history: History, name: RuleName, within: Span): boolean =>
  looks(evidence, name, within).some((look) => touches(history.standings.get(name) ?? [], look));

/** Nobody need look where somebody else still holds the rule, or it was never opened. */
function wasMissed(evidence: Evidence, history: History, name: RuleName, move: IpMove): boolean {
  const others = (history.holds.get(name) ?? []).filter((hold) => hold.ipId !== move.ipId);
  if (covers(others, move.at) || covers(others, move.at - CLOCKS_MS)) return true;
  const ours = (history.standings.get(name) ?? []).filter(({ rule }) => rule.ours);
  const last = ours.filter((standing) => standing.from <= move.at).toSorted((a, b) => b.from - a.from)[0];
  if (!last) return true;
  return looks(evidence, name, { from: last.from, to: move.at }).some(
    (look) => uncovered(look, ours).length > 0,
  );
}
