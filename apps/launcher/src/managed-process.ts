import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT_CONFIGURATION } from '#config';
import { LastLines } from './last-lines';
import type { LogFile } from './log-file';
import { signal } from './processes';
import { RestartPolicy } from './restart-policy';

export interface ManagedProcessOptions {
  /** as the user reads it: `API` */
  readonly name: string;
  /** compiled JavaScript; sends `{ ready: true }` over IPC, and ends by itself when the channel is cut */
  readonly script: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: LogFile;
  readonly say: (line: string) => void;
}

const READY_TIMEOUT_MS = 90_000;
const EXIT_TIMEOUT_MS = 2000;

/** One of the product's processes: started, started again when it ends unasked, stopped. */
export class ManagedProcess {
  private child: ChildProcess | null = null;
  private ended: Promise<void> = Promise.resolve();
  private words = new LastLines();
  private readonly policy = new RestartPolicy();
  private readonly stopping = new AbortController();
  private wasReady = false;
  private settle: { ready(): void; failed(error: Error): void } | null = null;

  constructor(private readonly options: ManagedProcessOptions) {}

  /**
   * Starts the process.
   * @returns when it is ready for the first time
   * @throws Error with its last words when it dies again and again, or never becomes ready
   */
  async start(): Promise<void> {
    const timer = setTimeout(() => this.giveUp('is not ready after 90 s'), READY_TIMEOUT_MS);
    try {
      await new Promise<void>((ready, failed) => {
        this.settle = { ready, failed };
        this.spawn();
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** SIGTERM, and after `patienceMs` SIGKILL to its whole group. Resolves when it is gone. */
  async stop(patienceMs: number): Promise<void> {
    this.stopping.abort();
    if (!this.isAlive) return;
    this.child?.kill('SIGTERM');
    const patience = new AbortController();
    await Promise.race([this.ended, delay(patienceMs, undefined, { signal: patience.signal })]);
    patience.abort();
    if (!this.isAlive) return;
    this.options.say(`The ${this.options.name} does not end by itself and is killed.`);
    await this.kill();
  }

  /** SIGKILL to its whole group. */
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
    const { script, cwd, environment, log } = this.options;
    this.words = new LastLines();
    this.policy.started();
    // A group of its own: a terminal's Ctrl-C reaches the launcher alone, which stops things in order.
    const child = spawn(process.execPath, [script], {
      cwd,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child = child;
    child.stdout?.on('data', (chunk: Buffer) => log.write(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      log.write(chunk);
      this.words.hear(chunk);
    });
    child.on('message', (message: { ready?: boolean }) => message.ready && this.becameReady());
    this.ended = new Promise((gone) => {
      child.once('exit', () => gone());
      child.once('error', () => gone());
    });
    // after `close` all it has printed is read
    child.once('close', (code, name) => void this.died(name ?? `exit code ${code}`, code));
    child.once('error', (error) => child.pid === undefined && this.giveUp(`cannot be run: ${error.message}`));
  }

  private becameReady(): void {
    if (this.wasReady) this.options.say(`The ${this.options.name} is back.`);
    this.wasReady = true;
    this.settle?.ready();
  }

  private async died(how: string, code: number | null): Promise<void> {
    if (this.stopping.signal.aborted) {
      this.settle?.failed(new Error(`The ${this.options.name} was stopped`));
      return;
    }
    const waitMs = this.policy.died();
    // with the same settings another start would end in the same way
    if (!this.wasReady && (code === EXIT_CONFIGURATION || this.policy.isHopeless)) {
      this.giveUp(`does not start (${how})`);
      return;
    }
    const words = this.words.first.map((line) => `\n    ${line}`).join('');
    this.options.say(`The ${this.options.name} has ended (${how}) and is started again.${words}`);
    await delay(waitMs, undefined, { signal: this.stopping.signal }).then(
      () => this.spawn(),
      () => this.settle?.failed(new Error(`The ${this.options.name} was stopped`)),
    );
  }

  private giveUp(what: string): void {
    const words = this.words.last.map((line) => `\n    ${line}`).join('');
    const { name, log } = this.options;
    this.settle?.failed(new Error(`The ${name} ${what}.${words}\nMore is in ${log.path}`));
  }
}
