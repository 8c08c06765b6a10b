import { judgeEvidence } from '../oracles/oracles';
import { figure, table, type Figure, type Goal } from '../../bench/figure';
import type { Outcome } from './chaos-run';
import type { Area } from './faults';
import { measuresOf } from './measures';

const AREAS: readonly Area[] = ['worker', 'api', 'postgres', 'redis', 'clock', 'connection'];

/** The figures of a run as a table for people, each with its goal. */
export function report(outcome: Outcome): string {
  const measures = measuresOf(outcome.evidence, outcome.strikes);
  const kills = outcome.strikes.reduce((sum, strike) => sum + strike.kills, 0);
  const foreign = outcome.evidence.standingAtBegin.filter((rule) => !rule.ours).length;
  const none: Goal = { atMost: 0 };
  const violations = judgeEvidence(outcome.evidence);
  const broken = (id: string): number => violations.filter((words) => words.startsWith(`${id} `)).length;
  const figures = [
    count('kills (SIGKILL)', kills),
    ...AREAS.map((area) => strikesOf(outcome, area)),
    count('requests', outcome.deeds),
    count('sessions', measures.sessions),
    count('sessions lost (O2)', broken('O2'), none),
    count('rules leaked (O1)', broken('O1'), none),
    count('rules that are not counted right (O3)', broken('O3'), none),
    count(`foreign rules touched, of ${foreign} (O5)`, broken('O5'), none),
    count('violations of O1 to O11', violations.length, none),
    count('closed before its time', measures.early.length, none),
    ...quantiles('kill to the next settled work', measures.recovery, { p99: 15 }),
    ...quantiles('kill to each settled work', measures.waiting, {}),
    ...quantiles('start to open, healthy', measures.opening.healthy, { p50: 0.6, p99: 2 }),
    ...quantiles('start to open, under fault', measures.opening.underFault, {}),
    ...quantiles('expiry to closed, healthy', measures.afterExpiry.healthy, { p50: 0.5, p99: 2, max: 5 }),
    ...quantiles('expiry to closed, under fault', measures.afterExpiry.underFault, {}),
    ...quantiles('stop to closed, healthy', measures.afterStop.healthy, { p99: 2, max: 5 }),
    ...quantiles('stop to closed, under fault', measures.afterStop.underFault, {}),
  ];
  return `${table(figures)}\n${outcome.minutes.toFixed(1)} minutes.`;
}

const count = (name: string, value: number, goal: Goal | null = null): Figure =>
  figure(name, '', [value], goal);

function strikesOf({ strikes }: Outcome, area: Area): Figure {
  return count(`faults: ${area}`, strikes.filter(({ fault }) => fault.area === area).length);
}

/** @param samplesMs nothing is told of none */
function quantiles(
  name: string,
  samplesMs: readonly number[],
  goals: { p50?: number; p99?: number; max?: number },
): Figure[] {
  if (samplesMs.length === 0) return [];
  const seconds = samplesMs.map((ms) => ms / 1000);
  return (
    [
      ['p50', 0.5],
      ['p99', 0.99],
      ['max', 1],
    ] as const
  ).map(([label, share]) => {
    const goal = goals[label] === undefined ? null : { atMost: goals[label] };
    return figure(`${name}, ${label} (of ${seconds.length})`, 's', seconds, goal, share);
  });
}
