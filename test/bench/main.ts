import 'reflect-metadata';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { agent } from './agent';
import { backlog, burst } from './backlog';
import { BenchPostgres } from './bench-postgres';
import { deniedNeighbours } from './denied-neighbours';
import { drivers } from './drivers';
import { fairness } from './fairness';
import { figure, table, type Figure } from './figure';
import { history } from './history';
import { outage, throttled } from './outage';
import { pending } from './pending';
import { requestCost } from './request-cost';
import { requestRate } from './request-rate';
import { thousandSessions } from './thousand-sessions';
import { timeToActive } from './time-to-active';

const MEASUREMENTS: Readonly<Record<string, (postgres: BenchPostgres) => Promise<Figure[]>>> = {
  disk: async (postgres) => [figure('Disk: 8 kB kept for good', 'ms', await postgres.flushTimes())],
  'request-rate': requestRate,
  'request-cost': requestCost,
  'time-to-active': timeToActive,
  'thousand-sessions': thousandSessions,
  fairness,
  'denied-neighbours': deniedNeighbours,
  pending,
  history,
  backlog,
  burst,
  outage,
  throttled,
  drivers,
  agent,
};

const say = (words: string): boolean => process.stderr.write(`${words}\n`);

function chosenNames(asked: readonly string[]): string[] {
  const names = Object.keys(MEASUREMENTS);
  const unknown = asked.filter((name) => !names.includes(name));
  if (unknown.length === 0) return asked.length > 0 ? [...asked] : names;
  throw new Error(`There is no ${unknown.join(', ')}. There are: ${names.join(', ')}`);
}

/** What cannot be measured is told, and does not keep the rest from being measured. */
async function measure(names: readonly string[]): Promise<Figure[]> {
  const postgres = await BenchPostgres.start();
  try {
    const figures: Figure[] = [];
    for (const name of names) {
      const began = performance.now();
      try {
        figures.push(...(await MEASUREMENTS[name]!(postgres)));
        say(`${name}: ${Math.round((performance.now() - began) / 1000)} s`);
      } catch (error) {
        process.exitCode = 1;
        say(`${name} FAILED: ${messageOf(error)}`);
      }
    }
    return figures;
  } finally {
    await postgres.stop();
  }
}

async function main(): Promise<void> {
  // an orderly exit: the children end with their channels, the server with `exit`
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean' } },
  });
  const names = chosenNames(positionals);
  say(`Node.js ${process.version}, ${cpus().length} cores, PostgreSQL with every commit on disk.`);
  const figures = await measure(names);
  console.log(values.json ? JSON.stringify(figures, null, 2) : `\n${table(figures)}`);
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

main().then(
  () => process.exit(),
  (error: unknown) => {
    say(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
