import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { difference, unionOf, type Traffic } from '#rules';
import { Agent } from './agent';
import { Channel } from './channel/channel';
import { previewOf } from './dry-run';
import { desiredElements, enforcedRules } from './enforced-rules';
import { formatStatus, formatTrafficArgument, formatTrafficList } from './format';
import { establishedConnections } from './guarding/connections';
import { GuardFile, NOTHING_DECIDED, type GuardDecisions } from './guarding/guard-file';
import { GuardedPorts } from './guarding/guarded-ports';
import { alwaysAllowed, bounded } from './guarding/limits';
import { Log } from './log';
import { guardElements, ruleElements, trafficIn, type Elements } from './nft/elements';
import { Guard } from './nft/guard';
import { isTrafficSet, type Listing } from './nft/listing';
import { Nft, NftError } from './nft/nft';
import { replaceTransaction } from './nft/ruleset';
import { TableMonitor } from './nft/table-monitor';
import { HELP, readOptions, UsageError, type AgentOptions, type Connection } from './options';
import { ServiceManager } from './service-manager';
import { readIfPresent } from './state/durable-file';
import type { PersistedState } from './state/persisted-state';
import { batterySeconds, bootId, machineId, runningMs } from './state/running-time';
import { ServingLock } from './state/serving-lock';
import { StateFile } from './state/state-file';
import { VERSION } from './version';

const print = (text: string): void => void process.stdout.write(text);
const log = new Log(print);
const nft = new Nft();

/** @returns the exit code */
async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env, readConfig);
  const files = filesOf(options);
  switch (options.command) {
    case 'help':
      print(HELP);
      return 0;
    case 'version':
      print(`${VERSION}\n`);
      return 0;
    case 'status':
      return status(options, files);
    case 'remove':
      return remove(options, files);
    case 'release':
      return release(options, files, options.named ?? []);
    case 'confirm':
      return confirm(options, files);
    case 'restore':
      return restore(options, files);
    case 'dry-run':
      return dryRun(options, options.connection!);
    case 'serve':
      return serve(options, options.connection!, files);
  }
}

async function status({ limits }: AgentOptions, files: Files): Promise<number> {
  const listing = await nft.list('all');
  const planned = enforcedRules(files.state.read().state?.rules ?? [], limits, Infinity).rules;
  const now = runningMs();
  const secondsUntil = [...ruleElements(planned, now).elements].map(
    ([key, deadline]) => [key, (deadline - now) / 1000] as const,
  );
  print(formatStatus(listing, files.guard.read() ?? NOTHING_DECIDED, new Map(secondsUntil)));
  return 0;
}

/** @returns the variables of a configuration file; null: there is none, or it may not be read. @throws Error */
function readConfig(path: string): NodeJS.Dict<string> | null {
  try {
    const text = readIfPresent(path);
    return text === null ? null : parseEnv(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    // systemd passes its variables to the service, which runs as a user of its own
    log.info(`${path} may not be read by this user: it is left out`);
    return null;
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
  readonly decisions: GuardDecisions | null;
}

/**
 * The guard survives damage of any file, and of all while the kernel guards: without a readable guard file, everything
 * counts that its copy, the state's file or the table names, and with none of these the installation's `--guard`.
 */
function knownBefore({ guard }: AgentOptions, files: Files, listing: Listing | null): KnownBefore {
  const persisted = files.state.read();
  const decisions = files.guard.read();
  if (files.guard.readCurrent() !== null) return { persisted, decisions };
  const guarded = unionOf(
    decisions?.guarded ?? [],
    persisted.state?.guarded ?? [],
    listing ? trafficIn(listing.secondsLeft.keys()) : [],
  );
  const isKnown = decisions !== null || persisted.state !== null || guarded.length > 0;
  if (!isKnown && guard.length === 0) return { persisted, decisions: null };
  return { persisted, decisions: { ...(decisions ?? NOTHING_DECIDED), guarded: isKnown ? guarded : guard } };
}

async function serve(options: AgentOptions, connection: Connection, files: Files): Promise<number> {
  const { limits } = options;
  const listing = await nft.list('all');
  const known = knownBefore(options, files, listing);
  // the guard first: neither a full disk nor a server that is away keeps it from being loaded
  const { guard, carried } = await restoreGuard(options, known, listing);
  const lock = await ServingLock.take(options.stateFile);
  if (!lock) throw new Error('Another agent serves on this host with the same state file');
  if (machineId() === '' && !known.persisted.state) await files.state.write(known.persisted);
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());
  log.info(`${VERSION} serves as ${connection.name} for ${connection.server}`);
  const agent = new Agent(
    {
      channel: createChannel(connection, known.persisted),
      guard,
      guardedPorts: new GuardedPorts(
        { file: files.guard, limits, connections: establishedConnections, log, now: runningMs },
        known.decisions,
      ),
      monitor: new TableMonitor(
        (pid) => nft.hasLoaded(pid),
        () => agent.noteForeignChange(),
      ),
      limits,
      file: files.state,
      log,
      now: runningMs,
    },
    known.persisted,
    carried,
  );
  notifyManager(agent);
  await agent.run(stopping.signal);
  return 0;
}

/** Tells systemd that the guard is loaded, and then that the agent does not hang. */
function notifyManager(agent: Agent): void {
  const manager = new ServiceManager(process.env);
  manager.ready();
  if (manager.watchdogIntervalMs === null) return;
  setInterval(() => {
    if (agent.isAlive) manager.isAlive();
  }, manager.watchdogIntervalMs).unref();
}

/** Loads the guard at boot. @returns 1 when settings were left out, or no file of the guard can be read */
async function restore(options: AgentOptions, files: Files): Promise<number> {
  for (const message of options.unusable) process.stderr.write(`Left out: ${message}\n`);
  const listing = await nft.list('all');
  const known = knownBefore(options, files, listing);
  await restoreGuard(options, known, listing);
  const isLost = known.decisions === null && files.guard.isPresent;
  if (isLost)
    process.stderr.write('NOTHING IS GUARDED: no guard file can be read, and DRAWBRIDGE_GUARD is not set\n');
  return options.unusable.length === 0 && !isLost ? 0 : 1;
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

/** Opens ports that were guarded, unless a resource names them. */
async function release(options: AgentOptions, files: Files, released: readonly Traffic[]): Promise<number> {
  const decisions = knownBefore(options, files, await nft.list('all')).decisions ?? NOTHING_DECIDED;
  const missing = difference(released, decisions.guarded);
  if (missing.length > 0) {
    process.stderr.write(`Not guarded: ${formatTrafficList(missing)}\n`);
    return 1;
  }
  const isServing = await decide(options, files, {
    ...decisions,
    guarded: difference(decisions.guarded, released),
  });
  print(
    isServing
      ? `The agent releases ${formatTrafficList(released)}, unless a resource names it: its log says so`
      : `Released: ${formatTrafficList(released)}. No agent runs: what a resource names is guarded again when it starts`,
  );
  return 0;
}

/** Guards what waits for a confirmation, or was left alone without one. */
async function confirm(options: AgentOptions, files: Files): Promise<number> {
  const decisions = knownBefore(options, files, await nft.list('all')).decisions ?? NOTHING_DECIDED;
  const undecided = unionOf(decisions.waiting, decisions.leftAlone);
  const confirmed = options.named ?? undecided;
  const missing = difference(confirmed, undecided);
  if (confirmed.length === 0 || missing.length > 0) {
    const waits =
      undecided.length === 0
        ? 'Nothing waits'
        : `What waits is ${formatTrafficArgument(undecided)}, nothing else waits`;
    process.stderr.write(`${waits} for a confirmation\n`);
    return 1;
  }
  await decide(options, files, {
    guarded: unionOf(decisions.guarded, confirmed),
    waiting: difference(decisions.waiting, confirmed),
    leftAlone: difference(decisions.leftAlone, confirmed),
  });
  print(`Confirmed, guarded from now on: ${formatTrafficList(confirmed)}`);
  return 0;
}

/**
 * An agent that serves takes it over from the guard file within a second; without one the table is changed here.
 * @returns whether an agent serves
 */
async function decide(options: AgentOptions, files: Files, decisions: GuardDecisions): Promise<boolean> {
  await files.guard.write(decisions);
  const lock = await ServingLock.take(options.stateFile);
  const listing = lock && (await nft.list('all'));
  if (listing) {
    const { allowed } = bounded(options.limits, decisions.guarded);
    const desired = new Map([...guardElements(allowed, options.limits.never), ...addressElements(listing)]);
    await new Guard(nft, runningMs, options).enforce(desired);
  }
  lock?.release();
  return lock === null;
}

interface Restored {
  readonly guard: Guard;
  /** what the table lets in, of which no state is known */
  readonly carried: Elements;
}

/**
 * Loads the guard and the rules of the persisted state before the server is contacted. When the table exists, rules that
 * are missing from it are not added back; without a state, what it lets in stays. While nothing is known, nothing is loaded.
 */
async function restoreGuard(
  options: AgentOptions,
  { persisted, decisions }: KnownBefore,
  listing: Listing | null,
): Promise<Restored> {
  const { limits } = options;
  const guard = new Guard(nft, runningMs, options);
  const carried = listing && !persisted.state ? addressElements(listing) : new Map<string, number>();
  if (decisions === null) return { guard, carried };
  const { rules = [], heardAt = 0 } = persisted.state ?? {};
  const { allowed } = bounded(limits, decisions.guarded);
  const own = ruleElements(alwaysAllowed(limits), runningMs()).elements;
  const desired = desiredElements(allowed, enforcedRules(rules, limits, heardAt).rules, {
    limits,
    now: runningMs,
  });
  const restored = [...desired].filter(
    ([key]) => isTrafficSet(key) || own.has(key) || !listing || listing.secondsLeft.has(key),
  );
  if (restored.length > 0) await guard.enforce(new Map([...carried, ...restored]));
  return { guard, carried };
}

/** What a table lets in, with the ends it has. */
function addressElements({ secondsLeft }: Listing): Map<string, number> {
  const now = runningMs();
  const open = [...secondsLeft].filter(([key]) => !isTrafficSet(key));
  return new Map(open.map(([key, seconds]) => [key, now + seconds * 1000]));
}

async function dryRun(options: AgentOptions, connection: Connection): Promise<number> {
  const state = await createChannel(connection, { instance: 'dry run', state: null }).preview();
  const now = runningMs();
  const { elements, warnings } = previewOf(state, connection.name, {
    ...options,
    connections: establishedConnections(),
    sshConnection: process.env['SSH_CONNECTION'],
    now,
  });
  for (const line of warnings) process.stderr.write(`${line}\n`);
  print(replaceTransaction(elements, now, options));
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

// the reader of a pipe has read enough
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

main().then((code) => (process.exitCode = code), fail);
