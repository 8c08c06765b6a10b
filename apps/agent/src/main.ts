import { createHash } from 'node:crypto';
import { parseEnv } from 'node:util';
import { Agent } from './agent';
import { Channel } from './channel/channel';
import { previewOf } from './dry-run';
import { enforcedRules } from './enforced-rules';
import { formatStatus } from './format';
import { confirm, release, remove, restore } from './guard-commands';
import { establishedConnections } from './guarding/connections';
import { NOTHING_DECIDED } from './guarding/guard-file';
import { GuardedPorts } from './guarding/guarded-ports';
import { filesOf, knownBefore, restoreGuard, type Host } from './host';
import { Log, messageOf } from './log';
import { ruleElements } from './nft/elements';
import { Nft } from './nft/nft';
import { replaceTransaction } from './nft/ruleset';
import { TableMonitor } from './nft/table-monitor';
import { HELP, readOptions, UsageError, type AgentOptions, type Command, type Connection } from './options';
import { notifyServiceManager } from './service-manager';
import { readIfPresent } from './state/durable-file';
import type { PersistedState } from './state/persisted-state';
import { machineId, runningMs } from './state/running-time';
import { takeServingLock } from './state/serving-lock';
import { VERSION } from './version';

const print = (text: string): void => void process.stdout.write(text);
const log = new Log(print);
const nft = new Nft();

/** @returns the exit code */
async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env, readConfig);
  const host = { nft, options, files: filesOf(options, log) };
  const { connection } = options;
  const commands: Record<Command, () => number | Promise<number>> = {
    help: () => printed(HELP),
    version: () => printed(`${VERSION}\n`),
    status: () => status(host),
    remove: () => remove(host),
    release: () => release(host, print),
    confirm: () => confirm(host, print),
    restore: () => restore(host),
    'dry-run': () => dryRun(options, connection!),
    serve: () => serve(host, connection!),
  };
  return commands[options.command]();
}

function printed(text: string): number {
  print(text);
  return 0;
}

async function status({ options: { limits }, files }: Host): Promise<number> {
  const listing = await nft.list();
  const planned = enforcedRules(files.state.read().state?.rules ?? [], limits, Infinity).rules;
  const now = runningMs();
  const secondsUntil = [...ruleElements(planned, now).elements].map(
    ([key, deadline]) => [key, (deadline - now) / 1000] as const,
  );
  return printed(formatStatus(listing, files.guard.read() ?? NOTHING_DECIDED, new Map(secondsUntil)));
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

async function serve(host: Host, connection: Connection): Promise<number> {
  const { options, files } = host;
  const { limits } = options;
  const listing = await nft.list();
  const known = knownBefore(host, listing);
  // the guard first: neither a full disk nor a server that is away keeps it from being loaded
  const { guard, carried } = await restoreGuard(host, known, listing);
  if (!(await takeServingLock(options.stateFile)))
    throw new Error('Another agent serves on this host with the same state file');
  if (machineId() === '' && !known.persisted.state) await files.state.write(known.persisted);
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());
  log.info(`${VERSION} serves as ${connection.name} for ${connection.server}`);
  const agent = new Agent(
    {
      channel: createChannel(connection, known.persisted),
      guard,
      nft,
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
  notifyServiceManager(process.env, () => agent.isAlive);
  await agent.run(stopping.signal);
  return 0;
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
  return printed(replaceTransaction(elements, now, options));
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

// the reader of a pipe has read enough
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

main().then((code) => (process.exitCode = code), fail);
