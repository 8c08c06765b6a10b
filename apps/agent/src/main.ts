import { createHash } from 'node:crypto';
import { Agent } from './agent';
import { Channel } from './channel/channel';
import { Log } from './log';
import { guardElements, ruleElements, type Elements } from './nft/elements';
import { Guard } from './nft/guard';
import { Nft, NftError } from './nft/nft';
import { replaceTransaction } from './nft/ruleset';
import { HELP, readOptions, UsageError, type AgentOptions, type Connection } from './options';
import type { PersistedState } from './state/persisted-state';
import { batterySeconds, bootId, machineId, runningMs } from './state/running-time';
import { StateFile } from './state/state-file';
import { VERSION } from './version';
import { formatStatus } from './format';

const print = (text: string): void => void process.stdout.write(text);
const log = new Log(print);
const nft = new Nft();

/** @returns the exit code */
async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env);
  const file = new StateFile(
    options.stateFile,
    () => ({ bootId: bootId(), runningMs: runningMs(), batterySeconds: batterySeconds() }),
    (message) => log.info(message),
  );
  switch (options.command) {
    case 'help':
      print(HELP);
      return 0;
    case 'version':
      print(`${VERSION}\n`);
      return 0;
    case 'status':
      print(formatStatus(await nft.list('all')));
      return 0;
    case 'remove':
      await nft.removeTable();
      file.remove();
      return 0;
    case 'restore':
      await restoreGuard(options, file.read());
      return 0;
    case 'dry-run':
      return dryRun(options, options.connection!);
    case 'serve':
      return serve(options, options.connection!, file);
  }
}

async function serve(options: AgentOptions, connection: Connection, file: StateFile): Promise<number> {
  const persisted = await readOrCreateState(file);
  const guard = await restoreGuard(options, persisted);
  const channel = createChannel(connection, persisted);
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());
  log.info(`${VERSION} serves as ${connection.name} for ${connection.server}`);
  await new Agent({ channel, guard, file, log, now: runningMs }, persisted).run(stopping.signal);
  return 0;
}

/** Reads the state file. Without a state it writes the file, so that the instance id is stable across starts. */
async function readOrCreateState(file: StateFile): Promise<PersistedState> {
  const persisted = file.read();
  if (!persisted.state) await file.write(persisted);
  return persisted;
}

/**
 * Loads the guard and the rules of the persisted state before the server is contacted. When the table exists, rules that
 * are missing from it are not added back; without a persisted state it is not touched.
 */
async function restoreGuard(options: AgentOptions, { state }: PersistedState): Promise<Guard> {
  const guard = new Guard(nft, runningMs, options);
  const listing = await nft.list('all');
  if (listing && !state) return guard;
  const guarded = guardElements(state?.guarded ?? options.guard);
  const opened = [...ruleElements(state?.rules ?? [], runningMs()).elements];
  const desired: Elements = new Map([
    ...guarded,
    ...opened.filter(([key]) => !listing || listing.secondsLeft.has(key)),
  ]);
  if (desired.size > 0) await guard.enforce(desired);
  return guard;
}

async function dryRun(options: AgentOptions, connection: Connection): Promise<number> {
  const state = await createChannel(connection, { instance: 'dry run', state: null }).preview();
  if (state.guarded.length === 0) {
    process.stderr.write(`No resource names ${connection.name}: nothing would be guarded\n`);
  }
  const { elements } = ruleElements(state.rules, runningMs());
  const desired = new Map([...guardElements(state.guarded), ...elements]);
  print(replaceTransaction(desired, runningMs(), options));
  return 0;
}

/** The machine id is part of the instance id, so that a copied disk counts as another installation. */
const createChannel = (connection: Connection, { instance }: PersistedState): Channel =>
  new Channel(
    {
      ...connection,
      instance: createHash('sha256').update(`${instance} ${machineId()}`).digest('hex').slice(0, 32),
      software: VERSION,
    },
    runningMs,
  );

/** Exit code 2: invalid usage; 1: any other error. */
function fail(error: unknown): void {
  if (error instanceof UsageError) process.stderr.write(`${error.message}\n\nSee drawbridge-agent --help.\n`);
  else process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

function messageOf(error: unknown): string {
  if (error instanceof NftError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

main().then((code) => (process.exitCode = code), fail);
