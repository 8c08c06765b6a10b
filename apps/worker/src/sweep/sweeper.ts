import type { Logger } from 'pino';
import { SweepStore, type Database } from '#entities';
import type { ConvergenceRunner } from '../convergence/convergence-runner';
import { RepeatedTask } from '../repeated-task';

const EVERY_MS = 1000;
const SESSIONS_AT_ONCE = 1000;

/**
 * Once a second, on the database's clock: ends sessions that are over, and has converged what is due and unattended. It
 * needs no queue: with the queue gone the product is a second slower, no more.
 */
class Sweeper {
  private readonly store = new SweepStore();

  constructor(
    private readonly database: Database,
    private readonly runner: ConvergenceRunner,
    private readonly log: Logger,
  ) {}

  async sweep(stopping: AbortSignal): Promise<void> {
    await this.expireSessions(stopping);
    await this.runner.fill();
    await this.store.purge(this.database.autocommit);
  }

  private async expireSessions(stopping: AbortSignal): Promise<void> {
    for (;;) {
      const count = await this.database.statement((tx) => this.store.expireSessions(tx, SESSIONS_AT_ONCE));
      if (count > 0) this.log.info({ count }, 'Sessions are over');
      if (count < SESSIONS_AT_ONCE || stopping.aborted) return;
      await this.runner.fill();
    }
  }
}

export function sweeping(database: Database, runner: ConvergenceRunner, log: Logger): RepeatedTask {
  const sweeper = new Sweeper(database, runner, log);
  return new RepeatedTask('sweep', EVERY_MS, (stopping) => sweeper.sweep(stopping), log);
}
