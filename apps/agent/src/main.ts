import { createHash } from 'node:crypto';
import { Agent } from './agent';
import { Channel } from './channel/channel';
import { Log } from './log';
import { guardElements, openings, type Elements } from './nft/elements';
import { Guard } from './nft/guard';
import { Nft, NftError } from './nft/nft';
import { replaceTransaction } from './nft/ruleset';
import { HELP, readOptions, UsageError, type AgentOptions, type Connection } from './options';
import type { KeptState } from './state/kept-state';
import { batterySeconds, bootId, machineId, runningMs } from './state/running-time';
import { StateFile } from './state/state-file';
import { VERSION } from './version';
import { formatStatus } from './format';

const say = (words: string): void => void process.stdout.write(words);
const log = new Log(say);
const nft = new Nft();

/** @returns the exit code */
async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env);
  const file = new StateFile(
    options.stateFile,
    () => ({ bootId: bootId(), runningMs: runningMs(), batterySeconds: batterySeconds() }),
    (words) => log.say(words),
  );
  switch (options.command) {
    case 'help':
      say(HELP);
      return 0;
    case 'version':
      say(`${VERSION}\n`);
      return 0;
    case 'status':
      say(formatStatus(await nft.list('all')));
      return 0;
    case 'remove':
      await nft.removeTable();
      file.remove();
      return 0;
    case 'restore':
      await restored(options, file.read());
      return 0;
    case 'dry-run':
      return dryRun(options, options.connection!);
    case 'serve':
      return serve(options, options.connection!, file);
  }
}

async function serve(options: AgentOptions, connection: Connection, file: StateFile): Promise<number> {
  const kept = await identified(file);
  const guard = await restored(options, kept);
  const channel = channelOf(connection, kept);
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());
  log.say(`${VERSION} serves as ${connection.name} for ${connection.server}`);
  await new Agent({ channel, guard, file, log, now: runningMs }, kept).run(stopping.signal);
  return 0;
}

/** What is known of the host, with an identity on disk: the same for every later start. */
async function identified(file: StateFile): Promise<KeptState> {
  const kept = file.read();
  if (!kept.state) await file.write(kept);
  return kept;
}

/**
 * Closes the host before anybody is asked, with what stood when it was last told. A table that is there already loses
 * nothing and gets nothing back that was taken out; without a state it is left alone.
 */
async function restored(options: AgentOptions, { state }: KeptState): Promise<Guard> {
  const guard = new Guard(nft, runningMs, options);
  const standing = await nft.list('all');
  if (standing && !state) return guard;
  const closed = guardElements(state?.guarded ?? options.guard);
  const opened = [...openings(state?.rules ?? [], runningMs()).elements];
  const desired: Elements = new Map([
    ...closed,
    ...opened.filter(([key]) => !standing || standing.secondsLeft.has(key)),
  ]);
  if (desired.size > 0) await guard.enforce(desired);
  return guard;
}

async function dryRun(options: AgentOptions, connection: Connection): Promise<number> {
  const state = await channelOf(connection, { instance: 'dry run', state: null }).preview();
  if (state.guarded.length === 0) {
    process.stderr.write(`No resource names ${connection.name}: nothing would be guarded\n`);
  }
  const { elements } = openings(state.rules, runningMs());
  const desired = new Map([...guardElements(state.guarded), ...elements]);
  say(replaceTransaction(desired, runningMs(), options));
  return 0;
}

/** A copied disk is another installation, as long as its machine has an id of its own. */
const channelOf = (connection: Connection, { instance }: KeptState): Channel =>
  new Channel(
    {
      ...connection,
      instance: createHash('sha256').update(`${instance} ${machineId()}`).digest('hex').slice(0, 32),
      software: VERSION,
    },
    runningMs,
  );

/** 2: it was called in the wrong way; 1: it cannot be done. */
function fail(error: unknown): void {
  if (error instanceof UsageError)
    process.stderr.write(`${error.message}\n\ndrawbridge-agent --help says more.\n`);
  else process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

function messageOf(error: unknown): string {
  if (error instanceof NftError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

main().then((code) => (process.exitCode = code), fail);
