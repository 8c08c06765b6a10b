import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import type { BuiltImage } from '../machines/built-image';
import { startedFile } from './one-file-apps';

const ROOT = resolve(__dirname, '../../..');
const READY_TIMEOUT_MS = 120_000;
const LAST_LINE = 5000;

export type AppName = 'api' | 'worker' | 'simulator' | 'launcher';

/** What reads a process's output: the test, nothing, or a full disk. */
export type Reader = 'test' | 'nobody' | 'full disk';

/** The folder of a release, or an image that was built. */
export type Release = string | BuiltImage;

/** A process of the shipped product. */
export class AppProcess {
  /** Resolves when it has exited, for any reason. */
  readonly gone: Promise<void>;
  private isAsked = false;

  private constructor(
    readonly name: AppName,
    private readonly child: ChildProcess,
    readonly port: number,
    private readonly lines: string[],
  ) {
    this.gone = new Promise((resolveGone) => child.once('exit', () => resolveGone()));
    void this.gone.then(() => this.tellUnasked());
  }

  /**
   * Starts it and waits until it reports ready.
   * @param release this one when left out
   * @throws Error with its output when it does not become ready
   */
  static async start(
    name: AppName,
    env: Readonly<Record<string, string>>,
    reader: Reader = 'test',
    release: Release = ROOT,
  ): Promise<AppProcess> {
    const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
    const output = reader === 'full disk' ? openSync('/dev/full', 'w') : 'pipe';
    const isFolder = typeof release === 'string';
    const [program, ...args] = isFolder
      ? [process.execPath, release === ROOT ? startedFile(name, env) : `dist/apps/${name}/src/main.js`]
      : release.command();
    const child = spawn(program, args, {
      cwd: isFolder ? release : ROOT,
      env: { PATH, HOME, NODE_ENV: 'test', NODE_COMPILE_CACHE, ...(isFolder ? {} : release.env), ...env },
      stdio: ['ignore', output, 'pipe', 'ipc'],
    });
    if (typeof output === 'number') closeSync(output);
    const lines: string[] = [];
    if (reader === 'test') child.stdout!.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    child.stderr!.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    const port = await readyPort(name, child, lines);
    return new AppProcess(name, child, port, lines);
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Its output so far. */
  get output(): string {
    return this.lines.join('');
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Logs the last output of a process that exits by itself: the tests that fail then are far from the cause. */
  private tellUnasked(): void {
    if (this.isAsked) return;
    const { exitCode, signalCode } = this.child;
    process.stderr.write(
      `${this.name} ended unasked (${exitCode ?? signalCode}):\n${this.output.slice(-LAST_LINE)}\n`,
    );
  }

  /** From now on it does not keep this process alive. It ends with this process: its channel closes. */
  detach(): void {
    this.isAsked = true;
    this.child.unref();
    this.child.channel?.unref();
    for (const stream of [this.child.stdout, this.child.stderr]) (stream as Socket | null)?.unref();
  }

  signal(signal: NodeJS.Signals): void {
    this.isAsked = true;
    this.child.kill(signal);
  }

  /** Signals it and waits until it has exited. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.isAsked = true;
    if (this.hasEnded) return this.child.exitCode;
    const gone = new Promise<number | null>((resolveExit) => this.child.once('exit', resolveExit));
    this.child.kill(signal);
    return gone;
  }
}

function readyPort(name: AppName, child: ChildProcess, lines: readonly string[]): Promise<number> {
  return new Promise((resolvePort, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${name} was not ready in time:\n${lines.join('')}`));
    }, READY_TIMEOUT_MS);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`${name} ended (${code ?? signal}) before it was ready:\n${lines.join('')}`));
    });
    child.on('message', (message: { ready?: boolean; port?: number }) => {
      if (!message.ready) return;
      clearTimeout(timer);
      resolvePort(message.port ?? 0);
    });
  });
}
