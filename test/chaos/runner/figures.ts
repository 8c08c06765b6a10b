import { chaosRun, type Outcome, type RunOptions } from './chaos-run';
import { failoverRun } from './failover-run';
import type { Area } from './faults';
import { healthyRun } from './healthy-run';
import { keysRun } from './keys-run';

/** A measurement: its figures in docs/guarantees.md, its default size, and its run. */
export interface FigureRun {
  readonly figures: string;
  /** kills, faults, sessions or requests */
  readonly counts: string;
  readonly defaultCount: number;
  run(options: RunOptions, count: number): Promise<Outcome>;
}

/** Session rate: a cloud account allows five writes a second, a session takes two. */
const PER_SECOND = 2;

const countingKills =
  (areas: readonly Area[]): FigureRun['run'] =>
  (options, kills) =>
    chaosRun({ ...options, areas, kills });
/** Some of these faults kill no process: the faults are counted. */
const countingFaults =
  (areas: readonly Area[]): FigureRun['run'] =>
  (options, faults) =>
    chaosRun({ ...options, areas, kills: Infinity, faults });

const SKEW_MINUTES = 10;

/** Runs twice: with correct clocks, and with every process's clock skewed. */
async function skewRun(options: RunOptions, count: number): Promise<Outcome> {
  const healthy = { ...options, count, perSecond: PER_SECOND, expiries: 0.5 };
  options.log('Without skew');
  const unskewed = await healthyRun(healthy);
  options.log(`Every clock wrong by ${SKEW_MINUTES} minutes`);
  const skewed = await healthyRun({ ...healthy, skewMinutes: SKEW_MINUTES });
  return { ...skewed, minutes: unskewed.minutes + skewed.minutes, unskewed };
}

export const FIGURES: Readonly<Record<string, FigureRun>> = {
  lateness: {
    figures: 'R1, R2, R3, R4',
    counts: 'sessions',
    defaultCount: 2000,
    run: (options, count) => healthyRun({ ...options, count, perSecond: PER_SECOND, expiries: 0.5 }),
  },
  expiries: {
    figures: 'R1, R2',
    counts: 'expiries',
    defaultCount: 10_000,
    run: (options, count) => healthyRun({ ...options, count, perSecond: PER_SECOND, expiries: 1 }),
  },
  skew: {
    figures: 'R12',
    counts: 'sessions, without skew and again with it',
    defaultCount: 1000,
    run: skewRun,
  },
  workers: { figures: 'R8, R16, R25', counts: 'kills', defaultCount: 1000, run: countingKills(['worker']) },
  api: { figures: 'R9', counts: 'kills', defaultCount: 500, run: countingKills(['api']) },
  redis: { figures: 'R10', counts: 'faults', defaultCount: 200, run: countingFaults(['redis']) },
  postgres: { figures: 'R11', counts: 'kills', defaultCount: 100, run: countingKills(['postgres']) },
  clock: {
    figures: 'R12 (clocks that become wrong under load)',
    counts: 'faults',
    defaultCount: 40,
    run: countingFaults(['clock']),
  },
  failover: {
    figures: 'R33',
    counts: 'failovers',
    defaultCount: 10,
    run: failoverRun,
  },
  keys: { figures: 'R20', counts: 'requests', defaultCount: 10_000, run: keysRun },
};
