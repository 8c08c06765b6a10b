import type { Logger } from 'pino';
import type { SweepStore, Transactions } from '#entities';
import type { ConvergenceRunner } from '../convergence/convergence-runner';
import { RepeatedTask } from '../repeated-task';

const EVERY_MS = 1000;
const SESSIONS_AT_ONCE = 1000;

/**
 * Once a second, on the database's clock: ends sessions that are over, and converges what is due and unattended. It
 * needs no queue: with the queue gone the product is a second slower, no more.
 */
export class Sweeper {
  constructor(
    private readonly database: Transactions,
    private readonly store: SweepStore,
    private readonly runner: ConvergenceRunner,
    private readonly log: Logger,
  ) {}

  async sweep(stopping: AbortSignal): Promise<void> {
    await this.expireSessions(stopping);
    const due = await this.store.dueTargets(this.database.autocommit, this.runner.free);
    for (const { targetId } of due) void this.runner.run(targetId);
    const stale = await this.store.reconcileTargets(this.database.autocommit, this.runner.free);
    for (const { targetId } of stale) void this.runner.run(targetId);
    await this.store.purge(this.database.autocommit);
  }

  private async expireSessions(stopping: AbortSignal): Promise<void> {
    for (;;) {
      const { count } = await this.database.statement((tx) =>
        this.store.expireSessions(tx, SESSIONS_AT_ONCE),
      );
      if (count > 0) this.log.info({ count }, 'Sessions are over');
      if (count < SESSIONS_AT_ONCE || stopping.aborted) return;
    }
  }
}

/** Sweeps for as long as it runs. */
export function sweeping(sweeper: Sweeper, log: Logger): RepeatedTask {
  return new RepeatedTask('sweep', EVERY_MS, (stopping) => sweeper.sweep(stopping), log);
}
