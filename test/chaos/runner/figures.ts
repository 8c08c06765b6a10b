import { chaosRun, type Outcome, type RunOptions } from './chaos-run';
import type { Area } from './faults';
import { healthyRun } from './healthy-run';
import { keysRun } from './keys-run';

/** What a command measures: which figures of docs/guarantees.md, how much of it when not told, and how. */
export interface FigureRun {
  readonly figures: string;
  /** kills, faults, sessions or requests */
  readonly counts: string;
  readonly usual: number;
  run(options: RunOptions, count: number): Promise<Outcome>;
}

/** Of sessions; a cloud account may write five times a second, and a session takes two writes. */
const PER_SECOND = 2;

const killing =
  (areas: readonly Area[]): FigureRun['run'] =>
  (options, kills) =>
    chaosRun({ ...options, areas, kills });
/** Some of these kill nobody: the faults are counted. */
const striking =
  (areas: readonly Area[]): FigureRun['run'] =>
  (options, strikes) =>
    chaosRun({ ...options, areas, kills: Infinity, strikes });

const SKEW_MINUTES = 10;

/** The same twice: with right clocks, and with the clock of every process wrong. */
async function skewRun(options: RunOptions, count: number): Promise<Outcome> {
  const healthy = { ...options, count, perSecond: PER_SECOND, expiries: 0.5 };
  options.say('Without skew');
  const unskewed = await healthyRun(healthy);
  options.say(`Every clock wrong by ${SKEW_MINUTES} minutes`);
  const skewed = await healthyRun({ ...healthy, skewMinutes: SKEW_MINUTES });
  return { ...skewed, minutes: unskewed.minutes + skewed.minutes, unskewed };
}

export const FIGURES: Readonly<Record<string, FigureRun>> = {
  lateness: {
    figures: 'R1, R2, R3, R4',
    counts: 'sessions',
    usual: 2000,
    run: (options, count) => healthyRun({ ...options, count, perSecond: PER_SECOND, expiries: 0.5 }),
  },
  expiries: {
    figures: 'R1, R2',
    counts: 'expiries',
    usual: 10_000,
    run: (options, count) => healthyRun({ ...options, count, perSecond: PER_SECOND, expiries: 1 }),
  },
  skew: { figures: 'R12', counts: 'sessions, without skew and again with it', usual: 1000, run: skewRun },
  workers: { figures: 'R8, R16, R25', counts: 'kills', usual: 1000, run: killing(['worker']) },
  api: { figures: 'R9', counts: 'kills', usual: 500, run: killing(['api']) },
  redis: { figures: 'R10', counts: 'faults', usual: 200, run: striking(['redis']) },
  postgres: { figures: 'R11', counts: 'kills', usual: 100, run: killing(['postgres']) },
  clock: {
    figures: 'R12 (clocks that go wrong while people work)',
    counts: 'faults',
    usual: 40,
    run: striking(['clock']),
  },
  keys: { figures: 'R20', counts: 'requests', usual: 10_000, run: keysRun },
};
