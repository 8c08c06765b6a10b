import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../harness/until';
import type { Bed } from './bed';
import type { Point } from './gates';
import type { Random } from './random';
import { hasFaketime, skewedClock } from './skewed-clock';
import type { SupervisedProcess } from './supervised-process';

/** What is broken: the figures name their own. */
export type Area = 'worker' | 'api' | 'postgres' | 'redis' | 'clock' | 'connection';

export interface Fault {
  readonly name: string;
  readonly area: Area;
  /** how often it comes, beside the others */
  readonly weight: number;
  /** Does it, and mends it. @returns how many processes were killed with SIGKILL */
  strike(bed: Bed, random: Random, lengths: Lengths): Promise<number>;
}

/** How long what lasts lasts, in ms. */
export interface Lengths {
  readonly stopped: number;
  readonly outage: number;
}

/** Longer than the lease of 10 s, as short as that allows. */
export const SHORT: Lengths = { stopped: 11_000, outage: 2000 };
export const LONG: Lengths = { stopped: 30_000, outage: 12_000 };

const AT_A_POINT_TIMEOUT_MS = 30_000;
const SKEWS = [-10, 10] as const;

const killed = async (processes: readonly SupervisedProcess[]): Promise<number> =>
  (await Promise.all(processes.map((process) => process.kill()))).filter(Boolean).length;

/** The transaction at the point rolls back: all it had done outside of the database stays done. */
const beforeCommit = (name: string, area: Area, point: Point): Fault => ({
  name,
  area,
  weight: 3,
  strike: (bed) =>
    bed.gates.at(point, AT_A_POINT_TIMEOUT_MS, async (caught) => {
      const count = await killed([bed.processAt(caught.clientPort)]);
      await caught.abort();
      return count;
    }),
});

/** The transaction at the point commits, and the process dies without having heard of it. */
const afterCommit = (name: string, area: Area, point: Point): Fault => ({
  name,
  area,
  weight: 3,
  strike: (bed) =>
    bed.gates.at(point, AT_A_POINT_TIMEOUT_MS, async (caught) => {
      const process = bed.processAt(caught.clientPort);
      process.ways.postgres.holdAnswers();
      await caught.pass();
      const count = await killed([process]);
      process.ways.postgres.reset();
      process.ways.postgres.thaw();
      return count;
    }),
});

/** The cloud has the call, and nobody hears what became of it. */
const inTheAir = (name: string, kind: string, operation: string): Fault => ({
  name,
  area: 'worker',
  weight: 2,
  strike: async (bed) => {
    const since = Date.now() * 1000;
    await bed.cloud.fault({ kind, operation, count: 1, seconds: AT_A_POINT_TIMEOUT_MS / 1000 });
    await until(
      name,
      async () => (await bed.cloud.calls(since)).some(({ outcome }) => outcome === 'NO_ANSWER'),
      AT_A_POINT_TIMEOUT_MS,
    );
    const count = await killed(bed.workers);
    await bed.cloud.clearFaults();
    return count;
  },
});

const atRandom = (name: string, area: Area, weight: number, strike: Fault['strike']): Fault => ({
  name,
  area,
  weight,
  strike,
});

const without = async (
  way: { cut(): Promise<void>; restore(): Promise<void> },
  ms: number,
): Promise<number> => {
  await way.cut();
  await pause(ms);
  await way.restore();
  return 0;
};

/** Points that a kill has to hit exactly. */
export const NAMED_POINTS: readonly Fault[] = [
  afterCommit('a worker dies with its intent written, before the cloud add', 'worker', 'intent'),
  beforeCommit('a worker dies after the cloud add, before its commit', 'worker', 'applied'),
  beforeCommit('a worker dies after the cloud remove, before its commit', 'worker', 'removed'),
  afterCommit('a worker dies between two rules of a session', 'worker', 'applied'),
  inTheAir(
    'both workers die while an add that was done hangs',
    'timeout-after-success',
    'AuthorizeSecurityGroupIngress',
  ),
  inTheAir(
    'both workers die while an add that was not done hangs',
    'timeout-before',
    'AuthorizeSecurityGroupIngress',
  ),
  inTheAir(
    'both workers die while a removal that was done hangs',
    'timeout-after-success',
    'RevokeSecurityGroupIngress',
  ),
  beforeCommit('whoever ends a session dies before its commit', 'worker', 'session-ended'),
  beforeCommit('an API dies with the session inserted, before its commit', 'api', 'session-inserted'),
  afterCommit(
    'an API dies with the session committed, before the wake-up and the answer',
    'api',
    'session-inserted',
  ),
];

const ON_PROCESSES: readonly Fault[] = [
  atRandom('a worker is killed', 'worker', 4, (bed, random) => killed([random.pick(bed.workers)])),
  atRandom('all workers are killed', 'worker', 2, (bed) => killed(bed.workers)),
  atRandom('an API is killed', 'api', 4, (bed, random) => killed([random.pick(bed.apis)])),
  atRandom(
    'a worker stands still for longer than its lease',
    'worker',
    0.3,
    async (bed, random, { stopped }) => {
      await random.pick(bed.workers).stoppedFor(stopped);
      return 0;
    },
  ),
];

const ON_SERVERS: readonly Fault[] = [
  atRandom('PostgreSQL is killed', 'postgres', 1, async (bed) => {
    await bed.postgres.kill();
    await bed.postgres.startAgain();
    return 1;
  }),
  atRandom('Redis is killed and comes back empty', 'redis', 1, async (bed, _, { outage }) => {
    await bed.redis!.kill();
    await pause(outage);
    await bed.redis!.startAgain();
    return 1;
  }),
  atRandom('Redis is flushed', 'redis', 3, async (bed) => {
    await bed.redis!.command('FLUSHALL');
    return 0;
  }),
];

const ON_CONNECTIONS: readonly Fault[] = [
  atRandom('a process loses PostgreSQL', 'connection', 1, (bed, random, { outage }) =>
    without(random.pick(bed.processes).ways.postgres, outage),
  ),
  atRandom('a worker hangs on PostgreSQL, half-open', 'connection', 0.5, async (bed, random, { stopped }) => {
    const { postgres } = random.pick(bed.workers).ways;
    postgres.freeze();
    await pause(stopped);
    postgres.thaw();
    return 0;
  }),
  atRandom('PostgreSQL is slow for a worker', 'connection', 1, async (bed, random, { outage }) => {
    const { postgres } = random.pick(bed.workers).ways;
    postgres.slow(random.between(50, 300));
    await pause(outage);
    postgres.slow(0);
    return 0;
  }),
  atRandom('a process loses Redis', 'redis', 1, (bed, random, { outage }) =>
    without(random.pick(bed.processes).ways.redis!, outage),
  ),
  atRandom('a worker hangs on Redis, half-open', 'redis', 0.5, async (bed, random, { outage }) => {
    const redis = random.pick(bed.workers).ways.redis!;
    redis.freeze();
    await pause(outage);
    redis.thaw();
    return 0;
  }),
];

/** The process runs on with the wrong clock until the same fault chooses it again. */
const CLOCKS: readonly Fault[] = [
  atRandom('the clock of a process goes wrong by ten minutes', 'clock', 1, async (bed, random) => {
    const process = random.pick(bed.processes);
    process.with(random.chance(0.25) ? {} : skewedClock(random.pick(SKEWS)));
    return killed([process]);
  }),
];

/** What can be done on this bed. @param areas only these; all when absent */
export function faultsFor(withRedis: boolean, areas?: readonly Area[]): Fault[] {
  return [...NAMED_POINTS, ...ON_PROCESSES, ...ON_SERVERS, ...ON_CONNECTIONS, ...(hasFaketime ? CLOCKS : [])]
    .filter(({ area }) => withRedis || area !== 'redis')
    .filter(({ area }) => areas?.includes(area) ?? true);
}

/** Endless: every fault comes round, those with more weight more often; each named point once in the first round. */
export function* sequence(faults: readonly Fault[], random: Random): Generator<Fault, never> {
  for (const fault of random.shuffled(faults)) yield fault;
  const whole = faults.reduce((sum, { weight }) => sum + weight, 0);
  for (;;) {
    let at = random.next() * whole;
    yield faults.find(({ weight }) => (at -= weight) < 0) ?? faults[0]!;
  }
}
