import { setTimeout as pause } from 'node:timers/promises';
import { AppProcess, type AppName } from '../../harness/product/processes';
import type { SeverableConnection } from '../../harness/database/severable-connection';
import { until } from '../../harness/until';

const RESTART_AFTER_MS = 200;
const READY_TIMEOUT_MS = 60_000;

/** The connections of one process to its servers; each process has its own, so that they can be broken separately. */
export interface Connections {
  readonly postgres: SeverableConnection;
  readonly redis: SeverableConnection | null;
}

/** A process of the product that is restarted whenever it exits. */
export class SupervisedProcess {
  private process: AppProcess | null = null;
  private stopping = false;
  private addedEnvironment: Readonly<Record<string, string>> = {};
  private lastOutput = '';
  private readonly supervision: Promise<void>;

  private constructor(
    readonly name: AppName,
    private readonly environment: Readonly<Record<string, string>>,
    readonly connections: Connections,
  ) {
    this.supervision = this.supervise();
  }

  /** Resolves when it is ready for the first time. */
  static async start(
    name: AppName,
    environment: Readonly<Record<string, string>>,
    connections: Connections,
  ): Promise<SupervisedProcess> {
    const supervised = new SupervisedProcess(name, environment, connections);
    await supervised.untilReady();
    return supervised;
  }

  /** Whether it runs and has reported ready. */
  get isReady(): boolean {
    return this.process !== null;
  }

  /** Output before its last exit, and since. */
  get output(): string {
    return this.lastOutput + (this.process?.output ?? '');
  }

  /** SIGKILL. Resolves after its exit. @returns false when it was not running */
  async kill(): Promise<boolean> {
    if (!this.process) return false;
    await this.process.stop('SIGKILL');
    this.process = null;
    return true;
  }

  /** Waits until it is running. */
  async untilReady(): Promise<void> {
    await until(
      `the ${this.name} is ready:\n${this.lastOutput}`,
      () => Promise.resolve(this.isReady),
      READY_TIMEOUT_MS,
    );
  }

  /** SIGSTOP for a while: nothing runs, no connection is closed. */
  async pauseFor(ms: number): Promise<void> {
    const { process } = this;
    process?.signal('SIGSTOP');
    await pause(ms);
    process?.signal('SIGCONT');
  }

  /** Adds to its environment, from the next start. */
  addEnvironment(added: Readonly<Record<string, string>>): void {
    this.addedEnvironment = added;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.process?.stop('SIGKILL');
    await this.supervision;
  }

  private async supervise(): Promise<void> {
    while (!this.stopping) {
      try {
        const started = await AppProcess.start(this.name, { ...this.environment, ...this.addedEnvironment });
        if (this.stopping) {
          await started.stop('SIGKILL');
          return;
        }
        this.process = started;
        await started.gone;
        this.lastOutput = started.output.slice(-4000);
      } catch (error) {
        // it did not become ready: its server is down, or it was killed during the start
        this.lastOutput = String(error).slice(-4000);
      }
      this.process = null;
      if (!this.stopping) await pause(RESTART_AFTER_MS);
    }
  }
}
