import { judgeEvidence } from '../oracles/oracles';
import { figure, quantile, table, type Figure, type Goal } from '../../bench/figure';
import type { Outcome } from './chaos-run';
import type { Area } from './faults';
import { measuresOf, type Measures } from './measures';

const AREAS: readonly Area[] = ['worker', 'api', 'postgres', 'redis', 'clock', 'connection'];

export interface Report {
  readonly passed: boolean;
  /** a table; its last line says PASSED or FAILED, and why */
  readonly text: string;
}

/** Compares the figures of a run with their goals. */
export function report(outcome: Outcome): Report {
  const measures = measuresOf(outcome.evidence, outcome.injected);
  const kills = outcome.injected.reduce((sum, fault) => sum + fault.kills, 0);
  const unmanaged = outcome.evidence.presentAtStart.filter((rule) => !rule.ours).length;
  const none: Goal = { atMost: 0 };
  const { ledger } = outcome.evidence;
  const violations = judgeEvidence(outcome.evidence);
  const countOf = (id: string): number => violations.filter((message) => message.startsWith(`${id} `)).length;
  const figures = [
    count('kills (SIGKILL)', kills),
    ...AREAS.map((area) => faultsIn(outcome, area)),
    count('requests', outcome.requests),
    count('sessions', measures.sessions),
    count('sessions lost (O2)', countOf('O2'), none),
    count('rules leaked (O1)', countOf('O1'), none),
    count('rules that do not match their holders (O3)', countOf('O3'), none),
    count(`unmanaged rules touched, of ${unmanaged} (O5)`, countOf('O5'), none),
    ...ledgerFigures(outcome, countOf, none),
    count(`violations of O1 to ${ledger ? 'O14' : 'O11'}`, violations.length, none),
    count('closed before its time', measures.early.length, none),
    ...(outcome.figures ?? latenessFigures(outcome, measures)),
  ];
  const missed = figures.filter(({ met }) => met === false).map(({ name }) => name);
  if (outcome.shortOf !== undefined) missed.push(`only ${outcome.shortOf} before the time was over`);
  return {
    passed: missed.length === 0,
    text: [
      table(figures),
      `${outcome.minutes.toFixed(1)} minutes.`,
      missed.length === 0 ? 'PASSED: every goal is met.' : `FAILED: ${missed.join('; ')}.`,
    ].join('\n'),
  };
}

function latenessFigures(outcome: Outcome, measures: Measures): Figure[] {
  return [
    ...quantiles('kill to the next settled work', measures.recovery, { p99: 15 }),
    ...quantiles('kill to each settled work', measures.waiting, {}),
    ...quantiles('start to open, healthy', measures.opening.healthy, { p50: 0.6, p99: 2 }),
    ...quantiles('start to open, under fault', measures.opening.underFault, {}),
    ...quantiles('expiry to closed, healthy', measures.afterExpiry.healthy, { p50: 0.5, p99: 2, max: 5 }),
    ...quantiles('expiry to closed, under fault', measures.afterExpiry.underFault, {}),
    ...quantiles('stop to closed, healthy', measures.afterStop.healthy, { p99: 2, max: 5 }),
    ...quantiles('stop to closed, under fault', measures.afterStop.underFault, {}),
    ...bySkew(outcome, measures),
    ...quantiles('possible and not certain, healthy', measures.uncertain.healthy, { p99: 2 }),
    ...quantiles('possible and not certain, under fault', measures.uncertain.underFault, {}),
  ];
}

/** Difference of the lateness to the run with correct clocks. */
function bySkew({ unskewed }: Outcome, skewed: Measures): Figure[] {
  if (!unskewed) return [];
  const correct = measuresOf(unskewed.evidence, unskewed.injected);
  return (['afterExpiry', 'afterStop'] as const).flatMap((kind) =>
    [0.5, 0.99].flatMap((share) => {
      const samples = [skewed[kind].healthy, correct[kind].healthy];
      if (samples.some((list) => list.length === 0)) return [];
      const [wrong, usual] = samples.map((list) => quantile(list, share) / 1000) as [number, number];
      const name = `${kind === 'afterExpiry' ? 'expiry' : 'stop'} to closed, p${100 * share}: later by skew`;
      return [figure(name, 's', [wrong - usual], { atMost: 0.5 })];
    }),
  );
}

/** Empty when the watched release writes no ledger. */
function ledgerFigures(
  { evidence: { ledger } }: Outcome,
  countOf: (id: string) => number,
  none: Goal,
): Figure[] {
  if (!ledger) return [];
  return [
    count('ledger events', ledger.events.length),
    count('unwanted rules not reported in time (O12)', countOf('O12'), none),
    count('reported removed while present (O13)', countOf('O13'), none),
    count(`wrong items in ${ledger.reports.length} access reports (O14)`, countOf('O14'), none),
  ];
}

const count = (name: string, value: number, goal: Goal | null = null): Figure =>
  figure(name, '', [value], goal);

function faultsIn({ injected }: Outcome, area: Area): Figure {
  return count(`faults: ${area}`, injected.filter(({ fault }) => fault.area === area).length);
}

/** @param samplesMs empty: no figures */
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
