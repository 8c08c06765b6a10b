import { CLOCKS_MS, readTakesMs } from './bounds';
import type { Call, Evidence, IpMove } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';
import { byOutsideHand, type RuleName } from './rule-name';
import { covers, touches, uncovered, type Span } from './spans';

const READ = /^(Describe|List|Get|Read)/i;

export const honestApi: Oracle = {
  id: 'O10',
  promise: 'APPLIED is shown after presence was seen in the cloud, REMOVED after absence was',
  violations(evidence: Evidence, history: History): string[] {
    const names = namesOf(history);
    const reads = readsOf(evidence);
    return [...history.ips].flatMap(([ipId, moves]) =>
      moves.flatMap((move, index) => {
        if (move.seeded || (move.now !== 'APPLIED' && move.now !== 'REMOVED')) return [];
        const since = moves[index - 1]?.at ?? evidence.begunAt;
        // what it came to want later, because its resource moved, was not meant yet
        const meant = (names.get(ipId) ?? []).filter(({ heldAt }) => heldAt <= move.at);
        const lies = meant
          .map(({ name }) => name)
          .filter((name) =>
            move.now === 'APPLIED'
              ? !wasSeen(evidence, reads, history, name, { from: since, to: move.at })
              : !wasMissed(evidence, reads, history, name, move),
          );
        return lies.map(
          (name) =>
            `${name} was called ${move.now} and nobody had seen that it was (${whatWasSeen(evidence, reads, history, name, { from: since, to: move.at })})`,
        );
      }),
    );
  },
};

/** The rules each ResourceIp wants, by its id; not those it left behind when its resource moved. */
function namesOf(history: History): Map<string, { name: RuleName; heldAt: number }[]> {
  const names = new Map<string, { name: RuleName; heldAt: number }[]>();
  for (const { name, ipId, from, isDetached } of [...history.holds.values()].flat())
    if (!isDetached) names.set(ipId, [...(names.get(ipId) ?? []), { name, heldAt: from }]);
  return names;
}

/** Reads that were answered, by target, in the order they came. */
type Reads = ReadonlyMap<string, readonly Call[]>;

function readsOf(evidence: Evidence): Reads {
  const reads = new Map<string, Call[]>();
  for (const call of evidence.calls) {
    if (call.target === null || call.outcome !== 'OK' || !READ.test(call.operation)) continue;
    const known = reads.get(call.target);
    if (known) known.push(call);
    else reads.set(call.target, [call]);
  }
  return reads;
}

/** The times at which somebody who read the object may have seen how it was. */
function looks(evidence: Evidence, reads: Reads, name: RuleName, within: Span): Span[] {
  const calls = reads.get(name.split(' ')[1]!) ?? [];
  const found: Span[] = [];
  for (let index = firstFrom(calls, within.from - CLOCKS_MS); index < calls.length; index += 1) {
    const { at } = calls[index]!;
    if (at > within.to + CLOCKS_MS) break;
    const done = at + readTakesMs(at, evidence.faults);
    found.push({ from: Math.max(at, within.from), to: Math.min(done, within.to + CLOCKS_MS) });
  }
  return found;
}

/** The index of the first call at `from` or later. */
function firstFrom(calls: readonly Call[], from: number): number {
  let [low, high] = [0, calls.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (calls[middle]!.at < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** For people: when it was said, when somebody looked last, and when it stood. Seconds since the watch began. */
function whatWasSeen(
  evidence: Evidence,
  reads: Reads,
  history: History,
  name: RuleName,
  within: Span,
): string {
  const since = (at: number): string => ((at - evidence.begunAt) / 1000).toFixed(2);
  const seen = looks(evidence, reads, name, within).map(({ from }) => since(from));
  const stood = (history.standings.get(name) ?? []).map(({ from, to }) => `${since(from)}-${since(to)}`);
  const looked = `looks ${seen.slice(-5).join(', ') || 'none'}`;
  return `waiting from ${since(within.from)} to ${since(within.to)}, ${looked}, it stood ${stood.join(', ') || 'never'}`;
}

const wasSeen = (evidence: Evidence, reads: Reads, history: History, name: RuleName, within: Span): boolean =>
  looks(evidence, reads, name, within).some((look) => touches(history.standings.get(name) ?? [], look));

/** Nobody need look where somebody else still holds the rule, or it was never opened. */
function wasMissed(
  evidence: Evidence,
  reads: Reads,
  history: History,
  name: RuleName,
  move: IpMove,
): boolean {
  if (byOutsideHand(evidence.outsideHands, name)) return true;
  const others = (history.holds.get(name) ?? [])
    .filter((hold) => hold.ipId !== move.ipId)
    .map(({ from, releasedAt }) => ({ from, to: releasedAt }));
  if (covers(others, move.at) || covers(others, move.at - CLOCKS_MS)) return true;
  const ours = (history.standings.get(name) ?? []).filter(({ rule }) => rule.ours);
  const last = ours.filter((standing) => standing.from <= move.at).toSorted((a, b) => b.from - a.from)[0];
  if (!last) return true;
  return looks(evidence, reads, name, { from: last.from, to: move.at }).some(
    (look) => uncovered(look, ours).length > 0,
  );
}
