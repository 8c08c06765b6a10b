import { INTERVAL_ENDS } from '#rules';
import { isUnderFault } from '../oracles/bounds';
import type { Evidence, FaultWindow } from '../oracles/evidence';
import { historyOf, type History } from '../oracles/history';
import { lingering } from '../oracles/o01-no-leak';
import type { Strike } from './chaos-run';

/** Samples in ms, by the cloud's own timeline. */
export interface Measures {
  /** from the insert of a session to its rule in the cloud, where the rule did not stand already */
  readonly opening: Samples;
  readonly afterExpiry: Samples;
  readonly afterStop: Samples;
  /** rules that were closed before their last holder ended: the time that was missing */
  readonly early: readonly number[];
  /** from a kill to the next settled piece of work that was waiting for it */
  readonly recovery: readonly number[];
  /** from a kill until each piece of work that was waiting was settled */
  readonly waiting: readonly number[];
  readonly sessions: number;
  /** how long the ledger calls a rule possible and not certain, at each end of an interval */
  readonly doubt: Samples;
}

export interface Samples {
  readonly healthy: readonly number[];
  readonly underFault: readonly number[];
}

const CLOCKS_MS = 20;

/** Reads the figures out of the evidence. */
export function measuresOf(evidence: Evidence, strikes: readonly Strike[]): Measures {
  const history = historyOf(evidence);
  const ended = lingering(history).filter(({ endedBy, until }) => endedBy !== null && until < Infinity);
  const lateness = (by: 'expiry' | 'stop'): Samples =>
    divided(
      evidence.faults,
      ended.filter(({ endedBy }) => endedBy === by).map(({ due, until }) => ({ from: due, to: until })),
    );
  const work = piecesOfWork(history);
  const afterKills = strikes
    .filter(({ kills }) => kills > 0)
    .map(({ at }) => work.filter((piece) => piece.from <= at && piece.to > at).map(({ to }) => to - at));
  return {
    opening: divided(evidence.faults, openings(history)),
    afterExpiry: lateness('expiry'),
    afterStop: lateness('stop'),
    early: earlyClosings(history),
    recovery: afterKills.filter((times) => times.length > 0).map((times) => Math.min(...times)),
    waiting: afterKills.flat(),
    sessions: history.sessions.size,
    doubt: divided(evidence.faults, doubts(evidence)),
  };
}

interface Lasted {
  readonly from: number;
  readonly to: number;
}

function divided(faults: readonly FaultWindow[], lasted: readonly Lasted[]): Samples {
  const isHit = ({ from, to }: Lasted): boolean => isUnderFault(from, to, faults);
  const length = ({ from, to }: Lasted): number => to - from;
  return {
    healthy: lasted.filter((span) => !isHit(span)).map(length),
    underFault: lasted.filter(isHit).map(length),
  };
}

/** Of every interval that is over: from possible to certain, and from certain to impossible. */
function doubts({ ledger }: Evidence): Lasted[] {
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

/** For every hold that found no rule: until there was one. */
function openings(history: History): Lasted[] {
  return [...history.holds].flatMap(([name, holds]) =>
    holds.flatMap((hold) => {
      const standings = history.standings.get(name) ?? [];
      if (standings.some(({ from, to }) => from <= hold.from && hold.from < to)) return [];
      const opened = standings.filter(({ from }) => from > hold.from && from <= hold.to);
      return opened.length === 0
        ? []
        : [{ from: hold.from, to: Math.min(...opened.map(({ from }) => from)) }];
    }),
  );
}

/** ResourceIps from the time they wait for the cloud until they do no longer. */
function piecesOfWork(history: History): Lasted[] {
  return [...history.ips.values()].flatMap((moves) =>
    moves.flatMap((move, index) => {
      if (move.now !== 'PENDING' && move.now !== 'REMOVING') return [];
      return [{ from: move.at, to: moves[index + 1]?.at ?? Infinity }];
    }),
  );
}

/** By how much each rule was closed before the time of a session was over that it was applied for, ms. */
function earlyClosings(history: History): number[] {
  return [...history.holds].flatMap(([name, holds]) => {
    const closings = (history.standings.get(name) ?? []).map(({ to }) => to);
    return holds
      .filter(({ endedBy }) => endedBy === 'expiry')
      .flatMap(({ applied, to }) =>
        closings
          .filter((at) => at < to - CLOCKS_MS && applied.some((span) => span.from < at && at < span.to))
          .map((at) => to - at),
      );
  });
}
