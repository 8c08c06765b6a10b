import { INTERVAL_ENDS } from '#rules';
import { isUnderFault } from '../oracles/bounds';
import type { Evidence, FaultWindow } from '../oracles/evidence';
import { historyOf, type History } from '../oracles/history';
import { unwantedRules } from '../oracles/o01-no-leak';
import type { InjectedFault } from './chaos-run';

/** Samples in ms, from the cloud's own timeline. */
export interface Measures {
  /** from the insert of a session to its rule in the cloud, unless the rule was present before */
  readonly opening: Samples;
  readonly afterExpiry: Samples;
  readonly afterStop: Samples;
  /** for rules closed before their last holder ended: how much too early */
  readonly early: readonly number[];
  /** from a kill until the first ResourceIp waiting at the kill is settled */
  readonly recovery: readonly number[];
  /** from a kill until each ResourceIp waiting at the kill is settled */
  readonly waiting: readonly number[];
  readonly sessions: number;
  /** how long a rule is possible and not certain in the ledger, at each end of an interval */
  readonly uncertain: Samples;
}

interface Samples {
  readonly healthy: readonly number[];
  readonly underFault: readonly number[];
}

const CLOCKS_MS = 20;

/** Computes the samples from the evidence. */
export function measuresOf(evidence: Evidence, injected: readonly InjectedFault[]): Measures {
  const history = historyOf(evidence);
  const ended = unwantedRules(history).filter(({ endedBy, until }) => endedBy !== null && until < Infinity);
  const lateness = (by: 'expiry' | 'stop'): Samples =>
    divided(
      evidence.faults,
      ended.filter(({ endedBy }) => endedBy === by).map(({ due, until }) => ({ from: due, to: until })),
    );
  const work = waitingTimes(history);
  const afterKills = injected
    .filter(({ kills }) => kills > 0)
    .map(({ at }) => work.filter(({ from, to }) => from <= at && to > at).map(({ to }) => to - at));
  return {
    opening: divided(evidence.faults, openings(history)),
    afterExpiry: lateness('expiry'),
    afterStop: lateness('stop'),
    early: earlyClosings(history),
    recovery: afterKills.filter((times) => times.length > 0).map((times) => Math.min(...times)),
    waiting: afterKills.flat(),
    sessions: history.sessions.size,
    uncertain: divided(evidence.faults, uncertainTimes(evidence)),
  };
}

interface Interval {
  readonly from: number;
  readonly to: number;
}

function divided(faults: readonly FaultWindow[], lasted: readonly Interval[]): Samples {
  const isHit = ({ from, to }: Interval): boolean => isUnderFault(from, to, faults);
  const length = ({ from, to }: Interval): number => to - from;
  return {
    healthy: lasted.filter((span) => !isHit(span)).map(length),
    underFault: lasted.filter(isHit).map(length),
  };
}

/** For each ended interval: from possible to certain, and from certain to impossible. */
function uncertainTimes({ ledger }: Evidence): Interval[] {
  return (ledger?.events ?? [])
    .filter(({ kind }) => INTERVAL_ENDS.some((end) => end === kind))
    .flatMap(({ possibleFrom, certainFrom, certainUntil, possibleUntil }) => {
      const edges: [number | null, number | null][] =
        certainFrom === null
          ? [[possibleFrom, possibleUntil]]
          : [
              [possibleFrom, certainFrom],
              [certainUntil, possibleUntil],
            ];
      return edges.flatMap(([from, to]) => (from === null || to === null ? [] : [{ from, to }]));
    });
}

/** For each hold that began without its rule: until the rule was present. */
function openings(history: History): Interval[] {
  return [...history.holds].flatMap(([name, holds]) =>
    holds.flatMap((hold) => {
      const presences = history.presences.get(name) ?? [];
      if (presences.some(({ from, to }) => from <= hold.from && hold.from < to)) return [];
      const opened = presences.filter(({ from }) => from > hold.from && from <= hold.to);
      return opened.length === 0
        ? []
        : [{ from: hold.from, to: Math.min(...opened.map(({ from }) => from)) }];
    }),
  );
}

/** The times in which ResourceIps wait for a pass. */
function waitingTimes(history: History): Interval[] {
  return [...history.ips.values()].flatMap((moves) =>
    moves.flatMap((move, index) => {
      if (move.now !== 'PENDING' && move.now !== 'REMOVING') return [];
      return [{ from: move.at, to: moves[index + 1]?.at ?? Infinity }];
    }),
  );
}

/** How much too early each rule was closed that was applied for a session that expired, ms. */
function earlyClosings(history: History): number[] {
  return [...history.holds].flatMap(([name, holds]) => {
    const closings = (history.presences.get(name) ?? []).map(({ to }) => to);
    return holds
      .filter(({ endedBy }) => endedBy === 'expiry')
      .flatMap(({ applied, to }) =>
        closings
          .filter((at) => at < to - CLOCKS_MS && applied.some((span) => span.from < at && at < span.to))
          .map((at) => to - at),
      );
  });
}
