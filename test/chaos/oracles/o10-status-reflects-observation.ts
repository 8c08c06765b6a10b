import { CLOCK_TOLERANCE_MS, MAX_SETTLE_MS, maxReadMs } from './bounds';
import type { Call, Evidence, IpMove } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';
import { wasChangedOutside, type RuleName } from './rule-name';
import { covers, overlaps, uncovered, type Span } from './spans';

const READ = /^(Describe|List|Get|Read)/i;

export const statusReflectsObservation: Oracle = {
  id: 'O10',
  guarantee: 'APPLIED is shown after presence was observed in the cloud, REMOVED after absence was',
  violations(evidence: Evidence, history: History): string[] {
    const names = namesOf(history);
    const reads = readsOf(evidence);
    return [...history.ips].flatMap(([ipId, moves]) =>
      moves.flatMap((move, index) => {
        if (move.seeded || (move.now !== 'APPLIED' && move.now !== 'REMOVED')) return [];
        const since = moves[index - 1]?.at ?? evidence.begunAt;
        // rules that it held later, after a move of its resource, do not count
        const heldThen = (names.get(ipId) ?? []).filter(({ heldAt }) => heldAt <= move.at);
        const unobserved = heldThen
          .map(({ name }) => name)
          .filter((name) =>
            move.now === 'APPLIED'
              ? !wasObservedPresent(evidence, reads, history, name, { from: since, to: move.at })
              : !wasObservedAbsent(evidence, reads, history, name, move),
          );
        return unobserved.map(
          (name) =>
            `${name} was shown as ${move.now} without an observation (${describeReads(evidence, reads, history, name, { from: since, to: move.at })})`,
        );
      }),
    );
  },
};

/** The rules of each ResourceIp, by its id; not those it was detached from when its resource moved. */
function namesOf(history: History): Map<string, { name: RuleName; heldAt: number }[]> {
  const names = new Map<string, { name: RuleName; heldAt: number }[]>();
  for (const { name, ipId, from, isDetached } of [...history.holds.values()].flat())
    if (!isDetached) names.set(ipId, [...(names.get(ipId) ?? []), { name, heldAt: from }]);
  return names;
}

/** Successful reads by target, in order. */
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

/** The time of each read of the target: the read shows the state at some moment within it. */
function readSpans(evidence: Evidence, reads: Reads, name: RuleName, within: Span): Span[] {
  const calls = reads.get(name.split(' ')[1]!) ?? [];
  const found: Span[] = [];
  for (let index = firstFrom(calls, within.from - CLOCK_TOLERANCE_MS); index < calls.length; index += 1) {
    const { at } = calls[index]!;
    if (at > within.to + CLOCK_TOLERANCE_MS) break;
    const done = at + maxReadMs(at, evidence.faults);
    found.push({ from: Math.max(at, within.from), to: Math.min(done, within.to + CLOCK_TOLERANCE_MS) });
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

/** For the message: the last reads, and when the rule was present. Seconds since the watch began. */
function describeReads(
  evidence: Evidence,
  reads: Reads,
  history: History,
  name: RuleName,
  within: Span,
): string {
  const since = (at: number): string => ((at - evidence.begunAt) / 1000).toFixed(2);
  const readAt = readSpans(evidence, reads, name, within).map(({ from }) => since(from));
  const present = (history.presences.get(name) ?? []).map(({ from, to }) => `${since(from)}-${since(to)}`);
  const lastReads = `reads ${readAt.slice(-5).join(', ') || 'none'}`;
  return `waiting from ${since(within.from)} to ${since(within.to)}, ${lastReads}, present ${present.join(', ') || 'never'}`;
}

const wasObservedPresent = (
  evidence: Evidence,
  reads: Reads,
  history: History,
  name: RuleName,
  within: Span,
): boolean => {
  const presences = history.presences.get(name) ?? [];
  if (readSpans(evidence, reads, name, within).some((read) => overlaps(presences, read))) return true;
  // an address that comes while a pass settles is let in by what that pass has read, where the rule has been there since
  return presences.some(({ from, to }) => {
    const since = { from: Math.max(from, within.from - MAX_SETTLE_MS), to: within.to };
    return to >= within.to && since.from < within.from && readSpans(evidence, reads, name, since).length > 0;
  });
};

/** No read is needed if another holder keeps the rule, or if it was never opened. */
function wasObservedAbsent(
  evidence: Evidence,
  reads: Reads,
  history: History,
  name: RuleName,
  move: IpMove,
): boolean {
  if (wasChangedOutside(evidence.outsideChanges, name)) return true;
  const others = (history.holds.get(name) ?? [])
    .filter((hold) => hold.ipId !== move.ipId)
    .map(({ from, releasedAt }) => ({ from, to: releasedAt }));
  if (covers(others, move.at) || covers(others, move.at - CLOCK_TOLERANCE_MS)) return true;
  const ours = (history.presences.get(name) ?? []).filter(({ rule }) => rule.ours);
  const last = ours.filter((presence) => presence.from <= move.at).toSorted((a, b) => b.from - a.from)[0];
  if (!last) return true;
  return readSpans(evidence, reads, name, { from: last.from, to: move.at }).some(
    (read) => uncovered(read, ours).length > 0,
  );
}
