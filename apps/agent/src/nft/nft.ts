import { spawn } from 'node:child_process';
import { readListing, type Listing } from './listing';
import { TABLE } from './ruleset';

/** `missing`: there is no nft; `denied`: no right to the firewall; `refused`: nft would not do what it was told. */
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
/** Services are often started without the folders of system programs. */
const FOLDERS = '/usr/sbin:/sbin:/usr/local/sbin';

/** The nft command: what it is told goes in by stdin, never by its arguments. */
export class Nft {
  /** One transaction: all of it or nothing. @throws NftError */
  async load(transaction: string): Promise<void> {
    await run(['-f', '-'], transaction);
  }

  /**
   * Reads the table.
   * @param parts `structure` leaves the elements out: that costs the same however many there are
   * @returns null when there is no such table, or none that can be read
   * @throws NftError
   */
  async list(parts: 'all' | 'structure'): Promise<Listing | null> {
    const terse = parts === 'structure' ? ['--terse'] : [];
    try {
      return readListing(await run(['--json', '--numeric', ...terse, 'list', 'table', ...TABLE.split(' ')]));
    } catch (error) {
      // where another program owns the table, nft breaks off in the middle: it is none of ours
      if (error instanceof SyntaxError) return null;
      if (error instanceof NftError && error.message.includes('No such file or directory')) return null;
      throw error;
    }
  }

  /** Takes the table away, if there is one. @throws NftError */
  async removeTable(): Promise<void> {
    await this.load(`table ${TABLE}\ndelete table ${TABLE}\n`);
  }
}

function run(args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, LC_ALL: 'C', PATH: `${process.env['PATH'] ?? ''}:${FOLDERS}` };
    const child = spawn('nft', args, { env, stdio: 'pipe' });
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(notStarted(error));
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(out).toString());
      else reject(faultOf(Buffer.concat(err).toString(), signal));
    });
    // nft that ends before it has read everything says why by itself
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

function notStarted(error: NodeJS.ErrnoException): NftError {
  // a folder of the PATH that may not be entered is told as EACCES, too
  if (error.code !== 'ENOENT' && error.code !== 'EACCES') {
    return new NftError('refused', `nft cannot be started: ${error.message}`);
  }
  return new NftError(
    'missing',
    'nft is not installed on this host: install the package nftables (apt-get install nftables, dnf install nftables)',
  );
}

function faultOf(words: string, signal: NodeJS.Signals | null): NftError {
  if (signal) return new NftError('refused', `nft did not end within ${TIMEOUT_MS / 1000} seconds`);
  if (words.includes('Operation not permitted')) {
    return new NftError(
      'denied',
      'nft: Operation not permitted: the agent needs CAP_NET_ADMIN, and no other program may own the table inet drawbridge',
    );
  }
  const said = words
    .trim()
    .replace(/^.*?Error: /s, '')
    .slice(0, MAX_MESSAGE_LENGTH);
  return new NftError('refused', `nft: ${said || 'it failed without a word'}`);
}
