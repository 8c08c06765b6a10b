import { hasRedis } from '../harness/redis';
import { chaosRun } from './runner/chaos-run';
import { NAMED_POINTS, SHORT } from './runner/faults';
import { report } from './runner/report';
import { hasFaketime } from './runner/skewed-clock';

const KILLS = 16;
const MINUTES = 20;
const SEED = Number(process.env['CHAOS_SEED'] ?? 466);

const warn = (message: string): boolean => process.stderr.write(`\n*** ${message} ***\n\n`);

/** A test that injects every named point at least once, then random faults. */
export function describeKills(redis: boolean): void {
  if (redis && !hasRedis)
    warn('redis-server is not on the PATH: the kills with the queue on Redis DID NOT RUN');
  if (!hasFaketime) warn('faketime is not installed: NO CLOCK FAULTS in the chaos runs');
  (redis && !hasRedis ? it.skip : it)(
    `all guarantees hold while processes are killed [R8, R9,${redis ? ' R10,' : ''} R11]`,
    async () => {
      const { kills, missed } = await summary(redis);
      expect(missed).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(KILLS);
    },
    MINUTES * 60_000,
  );
}

async function summary(redis: boolean): Promise<{ kills: number; missed: string[] }> {
  const outcome = await chaosRun({
    seed: SEED,
    kills: KILLS,
    redis,
    minutes: MINUTES,
    unmanagedRules: 200,
    lengths: SHORT,
    latencyMs: 20,
    log: () => undefined,
  }).catch((error: unknown) => {
    const again = `npm run chaos -- --kills ${KILLS} --seed ${SEED} ${redis ? '--redis' : '--no-redis'} --unmanaged 200 --latency 20 --short`;
    throw new Error(`${(error as Error).message}\nTo repeat it: ${again}`, { cause: error });
  });
  process.stderr.write(`${report(outcome).text}\n`);
  const played = new Set(outcome.injected.map(({ fault }) => fault.name));
  return {
    kills: outcome.injected.reduce((sum, { kills }) => sum + kills, 0),
    missed: NAMED_POINTS.map(({ name }) => name).filter((name) => !played.has(name)),
  };
}
