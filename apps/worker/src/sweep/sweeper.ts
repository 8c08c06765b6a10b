import type { Logger } from 'pino';
import type { Database, SweepStore } from '#entities';
import type { ConvergenceRunner } from '../convergence/convergence-runner';

const EVERY_MS = 1000;
const SESSIONS_AT_ONCE = 1000;

/**
 * Once a second, on the database's clock: ends sessions that are over, and converges what is due and unattended. It
 * needs no queue: with the queue gone the product is a second slower, no more.
 */
export class Sweeper {
  private timer: NodeJS.Timeout | null = null;
  private sweeping: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly store: SweepStore,
    private readonly runner: ConvergenceRunner,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.sweeping = this.sweepAndPlanNext();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.sweeping;
  }

  private async sweepAndPlanNext(): Promise<void> {
    const began = performance.now();
    try {
      await this.sweep();
    } catch (error) {
      this.log.error({ err: error }, 'A sweep failed; the next one follows');
    }
    if (this.stopped) return;
    const wait = Math.max(0, EVERY_MS - (performance.now() - began));
    this.timer = setTimeout(() => this.start(), wait);
  }

  private async sweep(): Promise<void> {
    await this.expireSessions();
    const due = await this.store.dueTargets(this.database.autocommit, this.runner.free);
    for (const { targetId } of due) void this.runner.run(targetId);
    const stale = await this.store.reconcileTargets(this.database.autocommit, this.runner.free);
    for (const { targetId } of stale) void this.runner.run(targetId);
    await this.store.purge(this.database.autocommit);
  }

  private async expireSessions(): Promise<void> {
    for (;;) {
      const { count } = await this.database.statement((tx) =>
        this.store.expireSessions(tx, SESSIONS_AT_ONCE),
      );
      if (count > 0) this.log.info({ count }, 'Sessions are over');
      if (count < SESSIONS_AT_ONCE || this.stopped) return;
    }
  }
}
