import type { Logger } from 'pino';
import type { SweepStore, Transactions } from '#entities';
import type { ConvergenceRunner } from '../convergence/convergence-runner';
import { RepeatedTask } from '../repeated-task';

const EVERY_MS = 1000;
const SESSIONS_AT_ONCE = 1000;

/**
 * On the database's clock: ends sessions that are over, and has converged what is due and unattended. It
 * needs no queue: with the queue gone the product is a second slower, no more.
 */
export class Sweeper {
  constructor(
    private readonly database: Transactions,
    private readonly store: SweepStore,
    private readonly runner: ConvergenceRunner,
    private readonly log: Logger,
  ) {}

  /** A step that fails does not keep the next ones from being done. @throws AggregateError with what failed */
  async sweep(stopping: AbortSignal): Promise<void> {
    const { database, store, runner } = this;
    const failures: unknown[] = [];
    for (const step of [
      () => this.expireSessions(stopping),
      () => runner.fill(),
      () => store.purge(database.autocommit),
    ]) {
      await step().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Not all of the sweep was done');
  }

  /** Milliseconds until the next session is over; null: none has an end ahead. */
  untilNextEnd(): Promise<number | null> {
    return this.store.untilNextEnd(this.database.autocommit);
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

/** Sweeps for as long as it runs: every second, and sooner when a session ends before that. */
export function sweeping(sweeper: Sweeper, log: Logger): RepeatedTask {
  const sweep = async (stopping: AbortSignal): Promise<number | null> => {
    await sweeper.sweep(stopping);
    return sweeper.untilNextEnd();
  };
  return new RepeatedTask('sweep', EVERY_MS, sweep, log);
}
