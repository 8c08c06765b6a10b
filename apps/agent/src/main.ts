import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { Agent } from './agent';
import { Channel } from './channel/channel';
import { Log } from './log';
import { guardElements, ruleElements, type Elements } from './nft/elements';
import { Guard } from './nft/guard';
import { Nft, NftError } from './nft/nft';
import { replaceTransaction } from './nft/ruleset';
import { HELP, readOptions, UsageError, type AgentOptions, type Connection } from './options';
import { GuardFile } from './state/guard-file';
import { without } from './state/guarded-traffic';
import type { Traffic } from './state/host-state';
import type { PersistedState } from './state/persisted-state';
import { batterySeconds, bootId, machineId, runningMs } from './state/running-time';
import { ServingLock } from './state/serving-lock';
import { StateFile } from './state/state-file';
import { VERSION } from './version';
import { formatStatus, formatTrafficList } from './format';

const print = (text: string): void => void process.stdout.write(text);
const log = new Log(print);
const nft = new Nft();

/** @returns the exit code */
async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env);
  const files = filesOf(options);
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
      return remove(options, files);
    case 'release':
      return release(options, files);
    case 'restore':
      await restoreGuard(options, knownBefore(options, files));
      return 0;
    case 'dry-run':
      return dryRun(options, options.connection!);
    case 'serve':
      return serve(options, options.connection!, files);
  }
}

interface Files {
  readonly state: StateFile;
  readonly guard: GuardFile;
}

const filesOf = ({ stateFile }: AgentOptions): Files => ({
  state: new StateFile(
    stateFile,
    () => ({ bootId: bootId(), runningMs: runningMs(), batterySeconds: batterySeconds() }),
    (message) => log.info(message),
  ),
  guard: new GuardFile(join(dirname(stateFile), 'guard.json'), (message) => log.info(message)),
});

/** What the host knows before it hears of its server. */
interface KnownBefore {
  readonly persisted: PersistedState;
  /** null: no guard was ever known here, and none was given */
  readonly guarded: readonly Traffic[] | null;
}

/** The guard survives damage of any file: its own, its copy, the state's, and the installation's `--guard` in this order. */
function knownBefore({ guard }: AgentOptions, files: Files): KnownBefore {
  const persisted = files.state.read();
  const guarded = files.guard.read() ?? persisted.state?.guarded ?? (guard.length > 0 ? guard : null);
  return { persisted, guarded };
}

async function serve(options: AgentOptions, connection: Connection, files: Files): Promise<number> {
  const known = knownBefore(options, files);
  // the guard first: neither a full disk nor a server that is away keeps it from being loaded
  const guard = await restoreGuard(options, known);
  const lock = await ServingLock.take(options.stateFile);
  if (!lock) throw new Error('Another agent serves on this host with the same state file');
  if (machineId() === '' && !known.persisted.state) await files.state.write(known.persisted);
  const channel = createChannel(connection, known.persisted);
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());
  log.info(`${VERSION} serves as ${connection.name} for ${connection.server}`);
  const parts = { channel, guard, file: files.state, guardFile: files.guard, log, now: runningMs };
  await new Agent(parts, known.persisted, known.guarded ?? []).run(stopping.signal);
  return 0;
}

/** Removes the guard. An agent that serves would make it anew. */
async function remove({ stateFile }: AgentOptions, files: Files): Promise<number> {
  const lock = await ServingLock.take(stateFile);
  if (!lock) {
    process.stderr.write(
      'An agent serves on this host: stop it first, for example systemctl stop drawbridge-agent\n',
    );
    return 1;
  }
  await nft.removeTable();
  files.state.remove();
  files.guard.remove();
  lock.release();
  return 0;
}

/**
 * Opens ports that were guarded. An agent that serves takes it over from the guard file within a second, unless a resource
 * names the port.
 */
async function release(options: AgentOptions, files: Files): Promise<number> {
  const { guarded } = knownBefore(options, files);
  const left = without(guarded ?? [], options.released);
  const missing = without(options.released, guarded ?? []);
  if (missing.length > 0) {
    process.stderr.write(`Not guarded: ${formatTrafficList(missing)}\n`);
    return 1;
  }
  await files.guard.write(left);
  const lock = await ServingLock.take(options.stateFile);
  const listing = lock && (await nft.list('all'));
  if (!listing) return 0;
  const now = runningMs();
  const rules = [...listing.secondsLeft].filter(([key]) => !key.startsWith('guarded'));
  const opened = rules.map(([key, seconds]) => [key, now + seconds * 1000] as const);
  await new Guard(nft, runningMs, options).enforce(new Map([...guardElements(left), ...opened]));
  lock.release();
  return 0;
}

/**
 * Loads the guard and the rules of the persisted state before the server is contacted. When the table exists, rules that
 * are missing from it are not added back; while nothing is known, it is not touched.
 */
async function restoreGuard(options: AgentOptions, { persisted, guarded }: KnownBefore): Promise<Guard> {
  const guard = new Guard(nft, runningMs, options);
  const listing = await nft.list('all');
  if (guarded === null || (listing && !persisted.state)) return guard;
  const opened = [...ruleElements(persisted.state?.rules ?? [], runningMs()).elements];
  const desired: Elements = new Map([
    ...guardElements(guarded),
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

/**
 * The instance is derived from the machine's id, so that the same machine takes over at once after a reinstallation. A
 * machine without one is known by its state file.
 */
const createChannel = (connection: Connection, { instance }: PersistedState): Channel =>
  new Channel(
    {
      ...connection,
      instance: createHash('sha256')
        .update(`drawbridge-agent ${machineId() || instance}`)
        .digest('hex')
        .slice(0, 32),
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
