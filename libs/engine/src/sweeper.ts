import type { Logger } from 'pino';
import type { SweeperLeaseStore, SweepStore, WokenTargets } from '#engine-store';
import type { Transactions } from '#entities';
import { grouped } from '#rules';
import type { ConvergenceRunner } from './convergence-runner';

const BATCH_SIZE = 1000;
/** Small, because the check for remaining uses searches all live rules. */
const CREDENTIALS_BATCH_SIZE = 10;
/** A crashed sweeper is replaced after this time. */
const LEASE_SECONDS = 3;

/** Wakes other workers for targets, through the queue. */
export type TargetDispatcher = (targets: readonly WokenTargets[]) => void;

/**
 * Ends expired sessions and starts the convergence of due targets, on the database clock. One worker sweeps, the others stand
 * by. It does not depend on the queue: without it, the sweeping worker converges everything.
 */
export class Sweeper {
  private maintainedAt = -Infinity;
  /** unknown before the first sweep, so others are woken too */
  private hasOthers = true;

  /** @param dispatch receives targets that this worker has no slot for */
  constructor(
    private readonly database: Transactions,
    private readonly store: SweepStore,
    private readonly lease: SweeperLeaseStore,
    private readonly runner: ConvergenceRunner,
    private readonly dispatch: TargetDispatcher,
    private readonly workerId: string,
    private readonly now: () => number,
    private readonly log: Logger,
  ) {}

  /**
   * Sweeps, if this worker holds the sweeper lease. A failed step does not prevent the following ones.
   * @returns ms until the next session expires; null: none will, or another worker sweeps
   * @throws AggregateError of the failed steps
   */
  async sweep(stopping: AbortSignal): Promise<number | null> {
    const { database, store } = this;
    const role = await this.lease.take(database.autocommit, this.workerId, LEASE_SECONDS);
    if (!role.sweeps) {
      this.runner.standBy();
      return null;
    }
    this.hasOthers = role.hasOthers;
    const failures: unknown[] = [];
    for (const step of [
      () => this.expireSessions(stopping),
      () => this.distribute(),
      () => store.purge(database.autocommit, BATCH_SIZE),
      () => this.onceAMinute(),
    ]) {
      await step().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Not all of the sweep was done');
    return store.untilNextEnd(database.autocommit);
  }

  /**
   * Expires sessions regardless of the sweeper lease. Call it before a worker takes work: the lease of a crashed sweeper may
   * still run, and removals left by an outage must come before additions.
   */
  async catchUp(): Promise<void> {
    await this.expireSessions(new AbortController().signal);
  }

  /** Call it on shutdown, so that another worker sweeps at once. */
  standDown(): Promise<void> {
    return this.lease.release(this.database.autocommit, this.workerId);
  }

  private async expireSessions(stopping: AbortSignal): Promise<void> {
    for (;;) {
      const { count, targets } = await this.database.transaction((tx) =>
        this.store.expireSessions(tx, BATCH_SIZE),
      );
      if (count > 0) this.log.info({ count }, 'Sessions are over');
      if (this.hasOthers) this.dispatch(targets);
      if (count < BATCH_SIZE || stopping.aborted) return;
      await this.distribute();
    }
  }

  /** Fills this worker's slots, and wakes other workers for the rest. */
  private async distribute(): Promise<void> {
    const waiting = await this.runner.fill();
    if (!this.hasOthers) return;
    const byProvider = grouped(waiting, ({ provider }) => provider);
    this.dispatch(
      [...byProvider].map(([provider, uses]) => ({
        provider,
        targetIds: uses.map(({ targetId }) => targetId),
      })),
    );
  }

  /** Corrects due times after a database clock change, and deletes unused credentials. */
  private async onceAMinute(): Promise<void> {
    if (this.now() - this.maintainedAt < 60_000) return;
    await this.store.bringForward(this.database.autocommit);
    await this.store.purgeCredentials(this.database.autocommit, CREDENTIALS_BATCH_SIZE);
    this.maintainedAt = this.now();
  }
}
