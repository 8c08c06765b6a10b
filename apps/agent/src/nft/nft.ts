import { execFile, type ChildProcess, type ExecFileException } from 'node:child_process';
import { readListing, type Listing } from './listing';
import { inputChains, mayDrop } from './other-chains';
import { TABLE } from './ruleset';

/** nft is missing, may not change the firewall, rejected the command, or did not end. The message says what to do. */
export class NftError extends Error {}

const TIMEOUT_MS = 60_000;
const MAX_MESSAGE_LENGTH = 400;
/** Added to PATH: services are often started without it. */
const SYSTEM_PATH = '/usr/sbin:/sbin:/usr/local/sbin';

const IS_TABLE = /^\w+ [a-z_][\w.-]*$/i;

/** Processes that are remembered: events of a change arrive soon after it. */
const MAX_OWN_PROCESSES = 50;

/** The nft command. Rulesets are passed by stdin, never by arguments. */
export class Nft {
  private readonly loads: number[] = [];

  /** Loads a ruleset in one transaction. @throws NftError: then nothing was changed */
  async load(transaction: string): Promise<void> {
    await run(['-f', '-'], transaction, (child) => this.loads.push(child.pid ?? 0));
    this.loads.splice(0, this.loads.length - MAX_OWN_PROCESSES);
  }

  /** Whether a process with this id loaded one of the last rulesets. */
  hasLoaded(pid: number): boolean {
    return this.loads.includes(pid);
  }

  /** Reads the table. @returns null when there is none, or it belongs to another program. @throws NftError */
  async list(): Promise<Listing | null> {
    try {
      return readListing(await run(['--json', '--numeric', 'list', 'table', ...TABLE.split(' ')]));
    } catch (error) {
      // nft's output breaks off in the middle when another program owns the table
      if (error instanceof SyntaxError) return null;
      if (error instanceof NftError && error.message.includes('No such file or directory')) return null;
      throw error;
    }
  }

  /**
   * The chains of other programs that may drop what the guard lets in, as `inet filter input`.
   * @throws NftError, and SyntaxError when nft lists something else
   */
  async otherChains(): Promise<string[]> {
    const names: string[] = [];
    for (const { family, table, name, policy } of inputChains(await run(['--json', 'list', 'chains'])))
      if (policy !== 'accept' || (await this.mayDrop(`${String(family)} ${String(table)}`, name)))
        names.push(`${String(family)} ${String(table)} ${String(name)}`);
    return names;
  }

  private async mayDrop(table: string, chain: unknown): Promise<boolean> {
    // nft reads its arguments as commands: it is not asked with a name that it would not accept itself
    if (!IS_TABLE.test(table)) return true;
    try {
      return mayDrop(await run(['--json', '--terse', 'list', 'table', ...table.split(' ')]), chain);
    } catch (error) {
      // it belongs to one program alone, or is gone by now
      if (error instanceof NftError || error instanceof SyntaxError) return true;
      throw error;
    }
  }

  /** Removes the table, if there is one. @throws NftError */
  async removeTable(): Promise<void> {
    await this.load(`table ${TABLE}\ndelete table ${TABLE}\n`);
  }
}

export const nftEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  LC_ALL: 'C',
  PATH: `${process.env['PATH'] ?? ''}:${SYSTEM_PATH}`,
});

function run(
  args: readonly string[],
  input = '',
  onStart: (child: ChildProcess) => void = () => undefined,
): Promise<string> {
  const options = {
    env: nftEnvironment(),
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: Infinity,
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile('nft', args, options, (error, output, message) => {
      if (!error) resolve(output);
      else reject(typeof error.code === 'string' ? startError(error) : exitError(message, error.signal));
    });
    // when nft exits before it has read all of its input, its exit code and stderr say why
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(input);
    onStart(child);
  });
}

function startError(error: ExecFileException): NftError {
  // a PATH folder without access rights is reported as EACCES
  if (error.code !== 'ENOENT' && error.code !== 'EACCES') {
    return new NftError(`nft cannot be started: ${error.message}`);
  }
  return new NftError(
    'nft is not installed on this host: install the package nftables (apt-get install nftables, dnf install nftables)',
  );
}

function exitError(stderr: string, signal: NodeJS.Signals | null | undefined): NftError {
  if (signal) return new NftError(`nft did not end within ${TIMEOUT_MS / 1000} seconds`);
  if (stderr.includes('Operation not permitted')) {
    return new NftError(
      'nft: Operation not permitted: the agent needs CAP_NET_ADMIN, and no other program may own the table inet drawbridge',
    );
  }
  const message = stderr
    .trim()
    .replace(/^.*?Error: /s, '')
    .slice(0, MAX_MESSAGE_LENGTH);
  return new NftError(`nft: ${message || 'it failed without a message'}`);
}
