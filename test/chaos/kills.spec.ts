import { hasRedis } from '../harness/redis';
import { chaosRun, type Outcome } from './runner/chaos-run';
import { NAMED_POINTS, SHORT } from './runner/faults';
import { report } from './runner/report';
import { hasFaketime } from './runner/skewed-clock';

const KILLS_EACH = 30;
const MINUTES = 20;
const SEED = Number(process.env['CHAOS_SEED'] ?? 466);

const loudly = (words: string): boolean => process.stderr.write(`\n*** ${words} ***\n\n`);
if (!hasRedis) loudly('redis-server is not on the PATH: the kills with the queue on Redis DID NOT RUN');
if (!hasFaketime) loudly('faketime is not installed: NO CLOCK WENT WRONG in the chaos runs');

/** Every named point at least once, the rest at random; the oracles judge. */
async function killed(redis: boolean): Promise<Outcome> {
  try {
    return await chaosRun({
      seed: SEED,
      kills: KILLS_EACH,
      redis,
      minutes: MINUTES,
      unmanagedRules: 200,
      lengths: SHORT,
      latencyMs: 20,
      say: () => undefined,
    });
  } catch (error) {
    const again = `npm run chaos -- --kills ${KILLS_EACH} --seed ${SEED} ${redis ? '--redis' : '--no-redis'} --unmanaged 200 --latency 20 --short`;
    throw new Error(`${(error as Error).message}\nTo repeat it: ${again}`, { cause: error });
  }
}

const play = async (redis: boolean): Promise<{ kills: number; missed: string[] }> => {
  const outcome = await killed(redis);
  process.stderr.write(`${report(outcome).text}\n`);
  const struck = new Set(outcome.strikes.map(({ fault }) => fault.name));
  return {
    kills: outcome.strikes.reduce((sum, { kills }) => sum + kills, 0),
    missed: NAMED_POINTS.map(({ name }) => name).filter((name) => !struck.has(name)),
  };
};

const onRedis = hasRedis ? describe : describe.skip;

describe('With its parts killed one after another, the queue on PostgreSQL', () => {
  it(
    'every promise holds [R8, R9, R11]',
    async () => {
      const { kills, missed } = await play(false);
      expect(missed).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(KILLS_EACH);
    },
    MINUTES * 60_000,
  );
});

onRedis('With its parts killed one after another, the queue on Redis', () => {
  it(
    'every promise holds [R8, R9, R10, R11]',
    async () => {
      const { kills, missed } = await play(true);
      expect(missed).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(KILLS_EACH);
    },
    MINUTES * 60_000,
  );
});
