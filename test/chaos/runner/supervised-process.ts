import { setTimeout as pause } from 'node:timers/promises';
import { AppProcess, type AppName } from '../../harness/processes';
import type { SeverableConnection } from '../../harness/severable-connection';
import { until } from '../../harness/until';

const RESTART_AFTER_MS = 200;
const BACK_TIMEOUT_MS = 60_000;

/** The ways of one process to its servers, its own, so that they can be broken alone. */
export interface Ways {
  readonly postgres: SeverableConnection;
  readonly redis: SeverableConnection | null;
}

/** One of the product's processes under a supervisor: it is started again whenever it ends. */
export class SupervisedProcess {
  private process: AppProcess | null = null;
  private stopping = false;
  private more: Readonly<Record<string, string>> = {};
  private lastWords = '';
  private readonly supervision: Promise<void>;

  private constructor(
    readonly name: AppName,
    private readonly environment: Readonly<Record<string, string>>,
    readonly ways: Ways,
  ) {
    this.supervision = this.supervise();
  }

  /** Resolves when it is ready for the first time. */
  static async start(
    name: AppName,
    environment: Readonly<Record<string, string>>,
    ways: Ways,
  ): Promise<SupervisedProcess> {
    const supervised = new SupervisedProcess(name, environment, ways);
    await supervised.back();
    return supervised;
  }

  /** It runs and has said that it is ready. */
  get isReady(): boolean {
    return this.process !== null;
  }

  /** What it printed before it ended last, and what it has printed since. */
  get output(): string {
    return this.lastWords + (this.process?.output ?? '');
  }

  /** SIGKILL. @returns when it is gone; false: it was not there */
  async kill(): Promise<boolean> {
    if (!this.process) return false;
    await this.process.stop('SIGKILL');
    this.process = null;
    return true;
  }

  /** Waits until the supervisor has it running again. */
  async back(): Promise<void> {
    await until(
      `the ${this.name} is back:\n${this.lastWords}`,
      () => Promise.resolve(this.isReady),
      BACK_TIMEOUT_MS,
    );
  }

  /** As a machine that stops for a while: nothing runs, nothing is closed. */
  async stoppedFor(ms: number): Promise<void> {
    const { process } = this;
    process?.signal('SIGSTOP');
    await pause(ms);
    process?.signal('SIGCONT');
  }

  /** From its next start on its environment has this, too. */
  with(more: Readonly<Record<string, string>>): void {
    this.more = more;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.process?.stop('SIGKILL');
    await this.supervision;
  }

  private async supervise(): Promise<void> {
    while (!this.stopping) {
      try {
        const started = await AppProcess.start(this.name, { ...this.environment, ...this.more });
        if (this.stopping) {
          await started.stop('SIGKILL');
          return;
        }
        this.process = started;
        await started.gone;
        this.lastWords = started.output.slice(-4000);
      } catch (error) {
        // it did not become ready: its server is gone, or it was killed on the way
        this.lastWords = String(error).slice(-4000);
      }
      this.process = null;
      if (!this.stopping) await pause(RESTART_AFTER_MS);
    }
  }
}
