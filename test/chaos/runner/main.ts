import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { hasRedis } from '../../harness/redis';
import { chaosRun, type RunOptions } from './chaos-run';
import { LONG, SHORT, type Area } from './faults';
import { report } from './report';
import { hasFaketime } from './skewed-clock';

const HELP = `Kills the parts of a Drawbridge one after another while people work on it, and asks whether every promise held.

  npm run chaos -- [--kills 1000] [--seed N] [--no-redis] [--minutes N] [--only worker,api,...]
                   [--foreign N] [--latency MS] [--short]

  --kills    processes to kill with SIGKILL before it ends (100)
  --seed     the order of faults and requests; printed, so that a run can be made again
  --redis    the queue on Redis (default, where redis-server is); --no-redis: on PostgreSQL
  --minutes  end after so long, however many are killed (120)
  --only     faults of these areas: worker, api, postgres, redis, clock, connection
  --foreign  rules of other hands planted over the groups (5000)
  --latency  of every call to the simulated cloud, ms (50)
  --short    outages of 2 s and standstills of 11 s instead of 12 s and 30 s
`;
const AREAS: readonly string[] = ['worker', 'api', 'postgres', 'redis', 'clock', 'connection'];

const say = (words: string): void =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${words}\n`);

/** @returns null when help is wanted */
function readArguments(): RunOptions | null {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      kills: { type: 'string', default: '100' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      redis: { type: 'boolean', default: hasRedis },
      minutes: { type: 'string', default: '120' },
      only: { type: 'string' },
      foreign: { type: 'string', default: '5000' },
      latency: { type: 'string', default: '50' },
      short: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  return {
    seed: wholeNumber('seed', values.seed),
    kills: wholeNumber('kills', values.kills),
    redis: values.redis,
    minutes: wholeNumber('minutes', values.minutes),
    foreignRules: wholeNumber('foreign', values.foreign),
    latencyMs: wholeNumber('latency', values.latency),
    lengths: values.short ? SHORT : LONG,
    ...(values.only === undefined ? {} : { areas: areasOf(values.only) }),
    say,
  };
}

function wholeNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new Error(`--${name} takes a whole number`);
}

function areasOf(text: string): Area[] {
  const areas = text.split(',');
  const unknown = areas.find((area) => !AREAS.includes(area));
  if (unknown !== undefined) throw new Error(`--only takes some of ${AREAS.join(', ')}, not ${unknown}`);
  return areas as Area[];
}

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
  const options = readArguments();
  if (!options) {
    process.stdout.write(HELP);
    return;
  }
  if (options.redis && !hasRedis) throw new Error('redis-server is not on the PATH: give --no-redis');
  if (!hasFaketime) say('libfaketime is missing: no clock goes wrong in this run');
  say(
    `Seed ${options.seed}, ${options.kills} kills, ${options.redis ? 'queue on Redis' : 'queue on PostgreSQL'}.`,
  );
  process.stdout.write(`${report(await chaosRun(options))}\n`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exit(1);
  },
);
