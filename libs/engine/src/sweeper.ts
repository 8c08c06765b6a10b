import type { Logger } from 'pino';
import type { SweeperLeaseStore, SweepStore, WokenTargets } from '#engine-store';
import type { Transactions } from '#entities';
import { grouped } from '#rules';
import type { ConvergenceRunner } from './convergence-runner';

const BATCH_SIZE = 1000;
/** Whether one is still used is looked up among all live rules. */
const CREDENTIALS_BATCH_SIZE = 10;
/** A worker that ends without a word is replaced after so long. */
const LEASE_SECONDS = 3;

/** Tells other workers of targets: the queue. */
export type HandOut = (targets: readonly WokenTargets[]) => void;

/**
 * On the database's clock: ends sessions that are over, and has targets converged that have something due and no worker.
 * One of all workers sweeps, the others stand by. It needs no queue: with the queue gone, what is due is done by the
 * worker that sweeps.
 */
export class Sweeper {
  private minuteBeganAt = -Infinity;
  /** not known before the first sweep: then others are told as well */
  private hasOthers = true;

  /** @param handOut where what this worker has no slot for goes */
  constructor(
    private readonly database: Transactions,
    private readonly store: SweepStore,
    private readonly lease: SweeperLeaseStore,
    private readonly runner: ConvergenceRunner,
    private readonly handOut: HandOut,
    private readonly workerId: string,
    private readonly now: () => number,
    private readonly log: Logger,
  ) {}

  /**
   * Sweeps, when it is this worker's to do. A step that fails does not keep the next ones from being done.
   * @returns milliseconds until the next session is over; null: none has an end ahead, or another worker sweeps
   * @throws AggregateError with what failed
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
   * Ends what is over, whoever sweeps. Before a worker takes work: the lease of a sweeper that is gone may still run, and
   * what an outage left to be closed goes before what is to be opened.
   */
  async catchUp(): Promise<void> {
    await this.expireSessions(new AbortController().signal);
  }

  /** For when this worker ends: another sweeps at once. */
  standDown(): Promise<void> {
    return this.lease.release(this.database.autocommit, this.workerId);
  }

  private async expireSessions(stopping: AbortSignal): Promise<void> {
    for (;;) {
      const { count, targets } = await this.database.transaction((tx) =>
        this.store.expireSessions(tx, BATCH_SIZE),
      );
      if (count > 0) this.log.info({ count }, 'Sessions are over');
      if (this.hasOthers) this.handOut(targets);
      if (count < BATCH_SIZE || stopping.aborted) return;
      await this.distribute();
    }
  }

  /** Fills this worker's slots, and wakes the others for what waits. */
  private async distribute(): Promise<void> {
    const waiting = await this.runner.fill();
    if (!this.hasOthers) return;
    const byProvider = grouped(waiting, ({ provider }) => provider);
    this.handOut(
      [...byProvider].map(([provider, uses]) => ({
        provider,
        targetIds: uses.map(({ targetId }) => targetId),
      })),
    );
  }

  /** After the database's clock was set back, nothing waits for the time it was set back by. */
  private async onceAMinute(): Promise<void> {
    if (this.now() - this.minuteBeganAt < 60_000) return;
    await this.store.bringForward(this.database.autocommit);
    await this.store.purgeCredentials(this.database.autocommit, CREDENTIALS_BATCH_SIZE);
    this.minuteBeganAt = this.now();
  }
}
