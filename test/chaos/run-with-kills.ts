import { hasRedis } from '../harness/database/redis';
import { chaosRun } from './runner/chaos-run';
import { faultsFor, NAMED_POINTS, SHORT } from './runner/faults';
import { report } from './runner/report';
import { hasFaketime } from '../harness/machines/skewed-clock';

const KILLS = 16;
const MINUTES = 20;
const SEED = Number(process.env['CHAOS_SEED'] ?? 466);

const warn = (message: string): boolean => process.stderr.write(`\n*** ${message} ***\n\n`);

/**
 * A test that injects every named point at least once, then random faults. With the queue on Redis, each other fault once: the
 * named points are of transactions, which no queue has a part in.
 */
export function describeKills(redis: boolean): void {
  if (redis && !hasRedis)
    warn('redis-server is not on the PATH: the kills with the queue on Redis DID NOT RUN');
  if (!hasFaketime) warn('faketime is not installed: NO CLOCK FAULTS in the chaos runs');
  (redis && !hasRedis ? it.skip : it)(
    `all guarantees hold while processes are killed [R8, R9,${redis ? ' R10,' : ''} R11]`,
    async () => {
      const all = faultsFor(redis);
      const { kills, played } = await summary(redis, all.length - NAMED_POINTS.length);
      const wanted = redis ? all.filter((fault) => !NAMED_POINTS.includes(fault)) : NAMED_POINTS;
      expect(wanted.map(({ name }) => name).filter((name) => !played.has(name))).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(redis ? 4 : KILLS);
    },
    MINUTES * 60_000,
  );
}

async function summary(
  redis: boolean,
  others: number,
): Promise<{ kills: number; played: ReadonlySet<string> }> {
  const outcome = await chaosRun({
    seed: SEED,
    kills: redis ? Infinity : KILLS,
    ...(redis ? { faults: others, atNamedPoints: false } : {}),
    redis,
    minutes: MINUTES,
    unmanagedRules: 20,
    lengths: SHORT,
    latencyMs: 20,
    log: () => undefined,
  }).catch((error: unknown) => {
    const again = `npm run chaos -- --kills ${KILLS} --seed ${SEED} ${redis ? '--redis' : '--no-redis'} --unmanaged 20 --latency 20 --short`;
    throw new Error(`${(error as Error).message}\nTo repeat it: ${again}`, { cause: error });
  });
  process.stderr.write(`${report(outcome).text}\n`);
  return {
    kills: outcome.injected.reduce((sum, { kills }) => sum + kills, 0),
    played: new Set(outcome.injected.map(({ fault }) => fault.name)),
  };
}
