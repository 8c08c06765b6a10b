import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { hasRedis } from '../../harness/database/redis';
import { chaosRun, type Outcome, type RunOptions } from './chaos-run';
import { LONG, SHORT, type Area } from './faults';
import { FIGURES } from './figures';
import { report } from './report';
import { hasFaketime } from '../../harness/machines/skewed-clock';

const HELP = `Injects faults into a deployment under load, and checks the guarantees.

  npm run chaos -- [--kills 1000] [--seed N] [--no-redis] [--minutes N] [--only worker,api,...]
                   [--unmanaged N] [--latency MS] [--short]
  npm run chaos -- --figure NAME [--count N] [...]

  --kills    processes to kill with SIGKILL before it ends (100)
  --seed     the order of faults and requests; printed, so that a run can be repeated
  --redis    the queue on Redis (default, where redis-server is); --no-redis: on PostgreSQL
  --minutes  end after this time, whatever was killed (120; 720 with --figure)
  --only     inject only faults of these areas: worker, api, postgres, redis, clock, connection
  --unmanaged  unmanaged rules planted over the groups (5000)
  --latency  of every call to the simulated cloud, ms (50)
  --short    outages of 2 s and pauses of 11 s instead of 12 s and 30 s
  --figure   measure figures of docs/guarantees.md, with this size (--count):
${Object.entries(FIGURES)
  .map(
    ([name, { figures, counts, defaultCount }]) =>
      `             ${name.padEnd(9)} ${figures} (${defaultCount} ${counts})`,
  )
  .join('\n')}
`;
const AREAS: readonly string[] = ['worker', 'api', 'postgres', 'redis', 'clock', 'connection'];

const log = (message: string): void =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${message}\n`);

interface Arguments {
  readonly options: RunOptions;
  /** the measurement and its size; null: a run with all faults */
  readonly figure: { readonly name: string; readonly count: number } | null;
}

/** @returns null when help is requested */
function readArguments(): Arguments | null {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      kills: { type: 'string', default: '100' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      redis: { type: 'boolean', default: hasRedis },
      minutes: { type: 'string' },
      only: { type: 'string' },
      unmanaged: { type: 'string', default: '5000' },
      latency: { type: 'string', default: '50' },
      short: { type: 'boolean', default: false },
      figure: { type: 'string' },
      count: { type: 'string' },
    },
  });
  if (values.help) return null;
  const options: RunOptions = {
    seed: wholeNumber('seed', values.seed),
    kills: wholeNumber('kills', values.kills),
    redis: values.redis,
    minutes: wholeNumber('minutes', values.minutes ?? (values.figure === undefined ? '120' : '720')),
    unmanagedRules: wholeNumber('unmanaged', values.unmanaged),
    latencyMs: wholeNumber('latency', values.latency),
    lengths: values.short ? SHORT : LONG,
    ...(values.only === undefined ? {} : { areas: areasOf(values.only) }),
    log,
  };
  return { options, figure: figureOf(values.figure, values.count) };
}

function figureOf(name?: string, count?: string): Arguments['figure'] {
  if (name === undefined) return null;
  const figure = FIGURES[name];
  if (!figure) throw new Error(`--figure takes one of ${Object.keys(FIGURES).join(', ')}`);
  return { name, count: count === undefined ? figure.defaultCount : wholeNumber('count', count) };
}

function run({ options, figure }: Arguments): Promise<Outcome> {
  if (!figure) {
    log(
      `Seed ${options.seed}: ${options.kills} kills, ${options.redis ? 'queue on Redis' : 'queue on PostgreSQL'}.`,
    );
    return chaosRun(options);
  }
  const measured = FIGURES[figure.name]!;
  log(`Seed ${options.seed}: ${measured.figures} over ${figure.count} ${measured.counts}.`);
  return measured.run(options, figure.count);
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
  const args = readArguments();
  if (!args) {
    process.stdout.write(HELP);
    return;
  }
  if (args.options.redis && !hasRedis) throw new Error('redis-server is not on the PATH: give --no-redis');
  if (!hasFaketime) log('libfaketime is not installed: no clock faults in this run');
  const { text, passed } = report(await run(args));
  process.stdout.write(`${text}\n`);
  if (!passed) process.exitCode = 1;
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.stdout.write('FAILED: the run failed, or guarantees were violated; see above.\n');
    process.exit(1);
  },
);
