import { hasRedis } from '../harness/redis';
import { chaosRun, type Outcome } from './runner/chaos-run';
import { NAMED_POINTS, SHORT } from './runner/faults';
import { report } from './runner/report';
import { hasFaketime } from './runner/skewed-clock';

const KILLS_EACH = 16;
const MINUTES = 20;
const SEED = Number(process.env['CHAOS_SEED'] ?? 466);

const warn = (message: string): boolean => process.stderr.write(`\n*** ${message} ***\n\n`);
if (!hasRedis) warn('redis-server is not on the PATH: the kills with the queue on Redis DID NOT RUN');
if (!hasFaketime) warn('faketime is not installed: NO CLOCK FAULTS in the chaos runs');

/** Injects every named point at least once, then random faults. */
async function runWithKills(redis: boolean): Promise<Outcome> {
  try {
    return await chaosRun({
      seed: SEED,
      kills: KILLS_EACH,
      redis,
      minutes: MINUTES,
      unmanagedRules: 200,
      lengths: SHORT,
      latencyMs: 20,
      log: () => undefined,
    });
  } catch (error) {
    const again = `npm run chaos -- --kills ${KILLS_EACH} --seed ${SEED} ${redis ? '--redis' : '--no-redis'} --unmanaged 200 --latency 20 --short`;
    throw new Error(`${(error as Error).message}\nTo repeat it: ${again}`, { cause: error });
  }
}

const summarize = async (redis: boolean): Promise<{ kills: number; missed: string[] }> => {
  const outcome = await runWithKills(redis);
  process.stderr.write(`${report(outcome).text}\n`);
  const played = new Set(outcome.injected.map(({ fault }) => fault.name));
  return {
    kills: outcome.injected.reduce((sum, { kills }) => sum + kills, 0),
    missed: NAMED_POINTS.map(({ name }) => name).filter((name) => !played.has(name)),
  };
};

const onRedis = hasRedis ? describe : describe.skip;

describe('Chaos run with the queue on PostgreSQL', () => {
  it(
    'all guarantees hold while processes are killed [R8, R9, R11]',
    async () => {
      const { kills, missed } = await summarize(false);
      expect(missed).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(KILLS_EACH);
    },
    MINUTES * 60_000,
  );
});

onRedis('Chaos run with the queue on Redis', () => {
  it(
    'all guarantees hold while processes are killed [R8, R9, R10, R11]',
    async () => {
      const { kills, missed } = await summarize(true);
      expect(missed).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(KILLS_EACH);
    },
    MINUTES * 60_000,
  );
});
