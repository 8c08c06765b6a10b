import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../harness/until';
import type { Testbed } from './testbed';
import type { Point } from './gates';
import type { Random } from './random';
import { hasFaketime, skewedClock } from '../../harness/machines/skewed-clock';
import type { SupervisedProcess } from './supervised-process';

/** The part of the deployment that a fault affects. */
export type Area = 'worker' | 'api' | 'postgres' | 'redis' | 'clock' | 'connection';

export interface Fault {
  readonly name: string;
  readonly area: Area;
  /** relative frequency */
  readonly weight: number;
  /** Injects the fault and ends it. @returns the number of processes killed with SIGKILL */
  inject(testbed: Testbed, random: Random, lengths: Lengths): Promise<number>;
}

/** Durations of faults, in ms. */
export interface Lengths {
  readonly stopped: number;
  readonly outage: number;
}

/** The shortest pause that exceeds the lease of 10 s. */
export const SHORT: Lengths = { stopped: 11_000, outage: 2000 };
export const LONG: Lengths = { stopped: 30_000, outage: 12_000 };

const AT_A_POINT_TIMEOUT_MS = 30_000;
/** seconds */
const SKEWS = [-600, 600] as const;

const killed = async (processes: readonly SupervisedProcess[]): Promise<number> =>
  (await Promise.all(processes.map((process) => process.kill()))).filter(Boolean).length;

/** The transaction at the point rolls back; its effects outside the database remain. */
const beforeCommit = (name: string, area: Area, point: Point): Fault => ({
  name,
  area,
  weight: 3,
  inject: (testbed) =>
    testbed.gates.at(point, AT_A_POINT_TIMEOUT_MS, async (caught) => {
      const count = await killed([testbed.processAt(caught.clientPort)]);
      await caught.abort();
      return count;
    }),
});

/** The transaction at the point commits, and the process is killed before it receives the answer. */
const afterCommit = (name: string, area: Area, point: Point): Fault => ({
  name,
  area,
  weight: 3,
  inject: (testbed) =>
    testbed.gates.at(point, AT_A_POINT_TIMEOUT_MS, async (caught) => {
      const process = testbed.processAt(caught.clientPort);
      process.connections.postgres.holdAnswers();
      await caught.pass();
      const count = await killed([process]);
      process.connections.postgres.reset();
      process.connections.postgres.thaw();
      return count;
    }),
});

/** The cloud received the call, and the process is killed before an answer. */
const whileInFlight = (name: string, kind: string, operation: string): Fault => ({
  name,
  area: 'worker',
  weight: 2,
  inject: async (testbed) => {
    const since = Date.now() * 1000;
    await testbed.cloud.fault({ kind, operation, count: 1, seconds: AT_A_POINT_TIMEOUT_MS / 1000 });
    await until(
      name,
      async () => (await testbed.cloud.calls(since)).some(({ outcome }) => outcome === 'NO_ANSWER'),
      AT_A_POINT_TIMEOUT_MS,
    );
    const count = await killed(testbed.workers);
    await testbed.cloud.clearFaults();
    return count;
  },
});

const atRandom = (name: string, area: Area, weight: number, inject: Fault['inject']): Fault => ({
  name,
  area,
  weight,
  inject,
});

const disconnect = async (
  connection: { cut(): Promise<void>; restore(): Promise<void> },
  ms: number,
): Promise<number> => {
  await connection.cut();
  await pause(ms);
  await connection.restore();
  return 0;
};

/** Kills at exactly defined points. */
export const NAMED_POINTS: readonly Fault[] = [
  afterCommit('a worker is killed with its intent written, before the cloud add', 'worker', 'intent'),
  beforeCommit('a worker is killed after the cloud add, before its commit', 'worker', 'applied'),
  beforeCommit('a worker is killed after the cloud remove, before its commit', 'worker', 'removed'),
  afterCommit('a worker is killed between two rules of a session', 'worker', 'applied'),
  whileInFlight(
    'both workers are killed while a successful add is unanswered',
    'timeout-after-success',
    'AuthorizeSecurityGroupIngress',
  ),
  whileInFlight(
    'both workers are killed while a failed add is unanswered',
    'timeout-before',
    'AuthorizeSecurityGroupIngress',
  ),
  whileInFlight(
    'both workers are killed while a successful removal is unanswered',
    'timeout-after-success',
    'RevokeSecurityGroupIngress',
  ),
  beforeCommit('the process that ends a session is killed before its commit', 'worker', 'session-ended'),
  beforeCommit('an API is killed with the session inserted, before its commit', 'api', 'session-inserted'),
  afterCommit(
    'an API is killed with the session committed, before the wake-up and the answer',
    'api',
    'session-inserted',
  ),
];

const ON_PROCESSES: readonly Fault[] = [
  atRandom('a worker is killed', 'worker', 4, (testbed, random) => killed([random.pick(testbed.workers)])),
  atRandom('all workers are killed', 'worker', 2, (testbed) => killed(testbed.workers)),
  atRandom('an API is killed', 'api', 4, (testbed, random) => killed([random.pick(testbed.apis)])),
  atRandom(
    'a worker is paused for longer than its lease',
    'worker',
    0.3,
    async (testbed, random, { stopped }) => {
      await random.pick(testbed.workers).pauseFor(stopped);
      return 0;
    },
  ),
];

const ON_SERVERS: readonly Fault[] = [
  atRandom('PostgreSQL is killed', 'postgres', 1, async (testbed) => {
    await testbed.postgres.kill();
    await testbed.postgres.startAgain();
    return 1;
  }),
  atRandom('Redis is killed and restarts empty', 'redis', 1, async (testbed, _, { outage }) => {
    await testbed.redis!.kill();
    await pause(outage);
    await testbed.redis!.startAgain();
    return 1;
  }),
  atRandom('Redis is flushed', 'redis', 3, async (testbed) => {
    await testbed.redis!.command('FLUSHALL');
    return 0;
  }),
];

const ON_CONNECTIONS: readonly Fault[] = [
  atRandom('a process loses PostgreSQL', 'connection', 1, (testbed, random, { outage }) =>
    disconnect(random.pick(testbed.processes).connections.postgres, outage),
  ),
  atRandom(
    'a worker hangs on PostgreSQL, half-open',
    'connection',
    0.5,
    async (testbed, random, { stopped }) => {
      const { postgres } = random.pick(testbed.workers).connections;
      postgres.freeze();
      await pause(stopped);
      postgres.thaw();
      return 0;
    },
  ),
  atRandom('PostgreSQL is slow for a worker', 'connection', 1, async (testbed, random, { outage }) => {
    const { postgres } = random.pick(testbed.workers).connections;
    postgres.slow(random.between(50, 300));
    await pause(outage);
    postgres.slow(0);
    return 0;
  }),
  atRandom('a process loses Redis', 'redis', 1, (testbed, random, { outage }) =>
    disconnect(random.pick(testbed.processes).connections.redis!, outage),
  ),
  atRandom('a worker hangs on Redis, half-open', 'redis', 0.5, async (testbed, random, { outage }) => {
    const redis = random.pick(testbed.workers).connections.redis!;
    redis.freeze();
    await pause(outage);
    redis.thaw();
    return 0;
  }),
];

/** The process keeps the wrong clock until the same fault selects it again. */
const CLOCKS: readonly Fault[] = [
  atRandom('the clock of a process becomes wrong by ten minutes', 'clock', 1, async (testbed, random) => {
    const process = random.pick(testbed.processes);
    process.addEnvironment(random.chance(0.25) ? {} : skewedClock(random.pick(SKEWS)));
    return killed([process]);
  }),
];

/** The faults that are possible on this testbed. @param areas only these; default: all */
export function faultsFor(withRedis: boolean, areas?: readonly Area[]): Fault[] {
  return [...NAMED_POINTS, ...ON_PROCESSES, ...ON_SERVERS, ...ON_CONNECTIONS, ...(hasFaketime ? CLOCKS : [])]
    .filter(({ area }) => withRedis || area !== 'redis')
    .filter(({ area }) => areas?.includes(area) ?? true);
}

/** An endless random sequence: each fault once, those at named points first, then by weight. */
export function* sequence(faults: readonly Fault[], random: Random): Generator<Fault, never> {
  const isNamed = (fault: Fault): boolean => NAMED_POINTS.includes(fault);
  yield* random.shuffled(faults.filter(isNamed));
  yield* random.shuffled(faults.filter((fault) => !isNamed(fault)));
  const whole = faults.reduce((sum, { weight }) => sum + weight, 0);
  for (;;) {
    let at = random.next() * whole;
    yield faults.find(({ weight }) => (at -= weight) < 0) ?? faults[0]!;
  }
}
