import { spawn, type ChildProcess } from 'node:child_process';
import { readListing, type Listing } from './listing';
import { inputChains, mayDrop } from './other-chains';
import { TABLE } from './ruleset';

/** `missing`: there is no nft; `denied`: no right to the firewall; `refused`: nft rejected the command, or did not run. */
export type NftFault = 'missing' | 'denied' | 'refused';

export class NftError extends Error {
  constructor(
    readonly fault: NftFault,
    message: string,
  ) {
    super(message);
  }
}

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

  /**
   * Reads the table.
   * @param parts `structure` leaves the elements out: its cost does not depend on their number
   * @returns null when there is no such table, or it belongs to another program
   * @throws NftError
   */
  async list(parts: 'all' | 'structure'): Promise<Listing | null> {
    const terse = parts === 'structure' ? ['--terse'] : [];
    try {
      return readListing(await run(['--json', '--numeric', ...terse, 'list', 'table', ...TABLE.split(' ')]));
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
  return new Promise((resolve, reject) => {
    const child = spawn('nft', args, { env: nftEnvironment(), stdio: 'pipe' });
    onStart(child);
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(startError(error));
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(out).toString());
      else reject(exitError(Buffer.concat(err).toString(), signal));
    });
    // when nft exits before it has read all of its input, its exit code and stderr say why
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

function startError(error: NodeJS.ErrnoException): NftError {
  // a PATH folder without access rights is reported as EACCES
  if (error.code !== 'ENOENT' && error.code !== 'EACCES') {
    return new NftError('refused', `nft cannot be started: ${error.message}`);
  }
  return new NftError(
    'missing',
    'nft is not installed on this host: install the package nftables (apt-get install nftables, dnf install nftables)',
  );
}

function exitError(stderr: string, signal: NodeJS.Signals | null): NftError {
  if (signal) return new NftError('refused', `nft did not end within ${TIMEOUT_MS / 1000} seconds`);
  if (stderr.includes('Operation not permitted')) {
    return new NftError(
      'denied',
      'nft: Operation not permitted: the agent needs CAP_NET_ADMIN, and no other program may own the table inet drawbridge',
    );
  }
  const message = stderr
    .trim()
    .replace(/^.*?Error: /s, '')
    .slice(0, MAX_MESSAGE_LENGTH);
  return new NftError('refused', `nft: ${message || 'it failed without a message'}`);
}
