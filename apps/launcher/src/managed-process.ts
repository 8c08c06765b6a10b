import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT_CONFIGURATION } from '#config';
import { LastLines } from './last-lines';
import type { LogFile } from './log-file';
import { signal } from './processes';
import { RestartPolicy } from './restart-policy';

export interface ManagedProcessOptions {
  /** as shown to the user, such as `API` */
  readonly name: string;
  /** compiled JavaScript; sends `{ ready: true }` over IPC and exits when the channel closes */
  readonly script: string;
  /** the script's modules, loaded while it still has to wait; undefined: they load with the script */
  readonly modules?: string;
  /** starts it again when a file that it has loaded changes */
  readonly isReloaded?: boolean;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: LogFile;
  readonly print: (line: string) => void;
}

const READY_TIMEOUT_MS = 90_000;
const EXIT_TIMEOUT_MS = 2000;
const LOAD_FIRST = join(__dirname, 'load-first.js');

/** One of the product's processes, restarted when it exits unexpectedly. */
export class ManagedProcess {
  private child: ChildProcess | null = null;
  private ended: Promise<void> = Promise.resolve();
  private stderr = new LastLines();
  private readonly policy = new RestartPolicy();
  private readonly stopping = new AbortController();
  private mayRun: Promise<unknown> = Promise.resolve();
  private wasReady = false;
  private settle: { ready(): void; failed(error: Error): void } | null = null;

  constructor(private readonly options: ManagedProcessOptions) {}

  /**
   * Starts the process. One with `modules` loads them at once.
   * @param mayRun the script of one with `modules` begins when this resolves; a rejection is thrown
   * @returns when it is ready for the first time
   * @throws Error with its last output when it crashes repeatedly or does not become ready
   */
  async start(mayRun: Promise<unknown> = Promise.resolve()): Promise<void> {
    this.mayRun = mayRun;
    const isReady = new Promise<void>((ready, failed) => {
      this.settle = { ready, failed };
      this.spawn();
    });
    await Promise.race([mayRun, isReady]);
    const timer = setTimeout(() => this.giveUp('is not ready after 90 s'), READY_TIMEOUT_MS);
    await isReady.finally(() => clearTimeout(timer));
  }

  /** Sends SIGTERM, and after `timeoutMs` SIGKILL to its whole group. Resolves when it has exited. */
  async stop(timeoutMs: number): Promise<void> {
    this.stopping.abort();
    if (!this.isAlive) return;
    this.child?.kill('SIGTERM');
    const timer = new AbortController();
    await Promise.race([this.ended, delay(timeoutMs, undefined, { signal: timer.signal })]);
    timer.abort();
    if (!this.isAlive) return;
    this.options.print(`The ${this.options.name} does not end by itself and is killed.`);
    await this.kill();
  }

  /** Sends SIGKILL to its whole group. */
  async kill(): Promise<void> {
    this.stopping.abort();
    const pid = this.child?.pid;
    if (!this.isAlive || pid === undefined) return;
    signal(-pid, 'SIGKILL');
    await Promise.race([this.ended, delay(EXIT_TIMEOUT_MS, undefined, { ref: false })]);
  }

  private get isAlive(): boolean {
    return this.child?.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  private spawn(): void {
    if (this.stopping.signal.aborted) return;
    const { script, modules, isReloaded, cwd, environment, log } = this.options;
    this.stderr = new LastLines();
    this.policy.started();
    // in its own process group: a terminal's Ctrl-C reaches only the launcher, which stops everything in order
    const watch = isReloaded ? ['--watch', '--watch-preserve-output'] : [];
    const program = modules === undefined ? [script] : [LOAD_FIRST, modules, script];
    const child = spawn(process.execPath, [...watch, ...program], {
      cwd,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child = child;
    if (modules !== undefined)
      this.mayRun.then(
        () => child.connected && child.send({ run: true }),
        () => undefined,
      );
    child.stdout?.on('data', (chunk: Buffer) => log.write(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      log.write(chunk);
      this.stderr.append(chunk);
    });
    child.on('message', (message: { ready?: boolean }) => message.ready && this.markReady());
    this.ended = new Promise((gone) => {
      child.once('exit', () => gone());
      child.once('error', () => gone());
    });
    // after `close` all output has been read
    child.once('close', (code, name) => void this.handleExit(name ?? `exit code ${code}`, code));
    child.once('error', (error) => child.pid === undefined && this.giveUp(`cannot be run: ${error.message}`));
  }

  private markReady(): void {
    if (this.wasReady) this.options.print(`The ${this.options.name} is back.`);
    this.wasReady = true;
    this.settle?.ready();
  }

  private async handleExit(exit: string, code: number | null): Promise<void> {
    if (this.stopping.signal.aborted) {
      this.settle?.failed(new Error(`The ${this.options.name} was stopped`));
      return;
    }
    const waitMs = this.policy.exited();
    // a restart with the same settings would fail in the same way
    if (!this.wasReady && (code === EXIT_CONFIGURATION || this.policy.isExhausted)) {
      this.giveUp(`does not start (${exit})`);
      return;
    }
    const output = this.stderr.first.map((line) => `\n    ${line}`).join('');
    this.options.print(`The ${this.options.name} has ended (${exit}) and is started again.${output}`);
    await delay(waitMs, undefined, { signal: this.stopping.signal }).then(
      () => this.spawn(),
      () => this.settle?.failed(new Error(`The ${this.options.name} was stopped`)),
    );
  }

  private giveUp(problem: string): void {
    const output = this.stderr.last.map((line) => `\n    ${line}`).join('');
    const { name, log } = this.options;
    this.settle?.failed(new Error(`The ${name} ${problem}.${output}\nMore is in ${log.path}`));
  }
}
