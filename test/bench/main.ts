import 'reflect-metadata';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { agent } from './agent';
import { backlog, burst } from './backlog';
import { BenchPostgres } from './bench-postgres';
import { ciComparison } from './ci-comparison';
import { cliStart } from './cli-start';
import { closing } from './closing';
import { deniedNeighbours } from './denied-neighbours';
import { drivers } from './drivers';
import { fairness } from './fairness';
import { figure, table, type Figure } from './figure';
import { floods } from './floods';
import { history } from './history';
import { lists } from './history-lists';
import { hostile } from './hostile';
import { idle } from './idle';
import { idleAgents } from './idle-agents';
import { logins } from './logins';
import { many } from './many';
import { nativeEnds } from './native-ends';
import { oneGrant } from './one-grant';
import { outage, throttled } from './outage';
import { packages } from './packages';
import { pending } from './pending';
import { requestCost } from './request-cost';
import { requestRate } from './request-rate';
import { retention } from './retention';
import { sessionLife } from './session-life';
import { slowTargets } from './slow-targets';
import { start } from './start';
import { thousandSessions } from './thousand-sessions';
import { wait } from './wait';
import { workerScaling } from './worker-scaling';

const MEASUREMENTS: Readonly<Record<string, (postgres: BenchPostgres) => Promise<Figure[]>>> = {
  disk: async (postgres) => [figure('Disk: write and sync 8 kB', 'ms', await postgres.flushTimes())],
  'request-rate': requestRate,
  'request-cost': requestCost,
  'session-life': sessionLife,
  'one-grant': oneGrant,
  'thousand-sessions': thousandSessions,
  'worker-scaling': workerScaling,
  wait,
  logins,
  'idle-agents': idleAgents,
  fairness,
  'denied-neighbours': deniedNeighbours,
  'slow-targets': slowTargets,
  'native-ends': nativeEnds,
  hostile,
  floods,
  closing,
  pending,
  history,
  retention,
  lists,
  many,
  idle,
  backlog,
  burst,
  outage,
  throttled,
  drivers,
  agent,
  packages,
  start,
  'cli-start': cliStart,
  'ci-comparison': ciComparison,
};

const log = (message: string): boolean => process.stderr.write(`${message}\n`);

function chosenNames(requested: readonly string[]): string[] {
  const names = Object.keys(MEASUREMENTS);
  const unknown = requested.filter((name) => !names.includes(name));
  if (unknown.length === 0) return requested.length > 0 ? [...requested] : names;
  throw new Error(`There is no ${unknown.join(', ')}. There are: ${names.join(', ')}`);
}

/** A failed measurement is logged, and does not prevent the others. */
async function measure(names: readonly string[]): Promise<Figure[]> {
  const postgres = await BenchPostgres.start();
  try {
    const figures: Figure[] = [];
    for (const name of names) {
      const began = performance.now();
      try {
        figures.push(...(await MEASUREMENTS[name]!(postgres)));
        log(`${name}: ${Math.round((performance.now() - began) / 1000)} s`);
      } catch (error) {
        process.exitCode = 1;
        log(`${name} FAILED: ${messageOf(error)}`);
      }
    }
    return figures;
  } finally {
    await postgres.stop();
  }
}

async function main(): Promise<void> {
  // a regular exit: child processes end with their IPC channels, the server with the `exit` event
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean' } },
  });
  const names = chosenNames(positionals);
  log(`Node.js ${process.version}, ${cpus().length} cores, PostgreSQL with every commit on disk.`);
  const figures = await measure(names);
  console.log(values.json ? JSON.stringify(figures, null, 2) : `\n${table(figures)}`);
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

main().then(
  () => process.exit(),
  (error: unknown) => {
    log(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
