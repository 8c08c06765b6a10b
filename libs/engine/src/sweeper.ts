import type { Logger } from 'pino';
import type { EngineStore, WokenTargets } from '#engine-store';
import type { Transactions, Tx } from '#entities';
import { grouped, LONGEST_RENEW_LEAD, ruleLife } from '#rules';
import type { ConvergenceRunner } from './convergence-runner';
import { sweeperRole } from './sweeper-role';

const BATCH_SIZE = 1000;
/** Small, because the check for remaining uses searches all live rules. */
const CREDENTIALS_BATCH_SIZE = 10;
/** A crashed sweeper is replaced after this time: the others try to take the lease when it ends. */
const LEASE_SECONDS = 4;
const RENEW_AFTER_MS = 1500;
/**
 * How long sessions are ended before their rules are removed: each target then needs one write for all of them, and writes
 * are what a large backlog waits for.
 */
const EXPIRE_FIRST_MS = 3000;
/** Rules that are due later than this are looked at, in case the clock was set back. */
const LONG_WAIT_SECONDS = 180;
/** Finished rows that nothing waits for. */
const PURGE_INTERVAL_MS = 5000;

/** Wakes other workers for targets, through the queue. */
export type TargetDispatcher = (targets: readonly WokenTargets[]) => void;

/**
 * Ends expired sessions and static IP rules, and starts the convergence of due targets, on the database clock. One worker sweeps, the others stand
 * by. It does not depend on the queue: without it, the sweeping worker converges everything.
 */
export class Sweeper {
  private maintainedAt = -Infinity;
  private purgedAt = -Infinity;
  /** whether this worker sweeps, until `askAt` */
  private sweeps = false;
  private askAt = -Infinity;
  /** when the last successful sweep ended; null: it is recorded, or there was none */
  private sweptAt: number | null = null;
  /** unknown before the first sweep, so others are woken too */
  private hasOthers = true;

  /** @param dispatch receives targets that this worker has no slot for */
  constructor(
    private readonly database: Transactions,
    private readonly stores: Pick<EngineStore, 'sweep' | 'sweeperLease' | 'rules'>,
    private readonly runner: ConvergenceRunner,
    private readonly dispatch: TargetDispatcher,
    private readonly workerId: string,
    private readonly now: () => number,
    private readonly log: Logger,
  ) {}

  /**
   * Sweeps, if this worker holds the sweeper lease. A failed step does not prevent the following ones.
   * @returns ms until the next session or static IP rule ends, or until another worker's lease ends; null: none will
   * @throws AggregateError of the failed steps
   */
  async sweep(stopping: AbortSignal): Promise<number | null> {
    if (this.now() >= this.askAt) await this.ask();
    if (!this.sweeps) return this.askAt - this.now();
    const failures: unknown[] = [];
    const attempt = <Result>(step: () => Promise<Result>): Promise<Result | null> =>
      step().catch((error: unknown) => {
        failures.push(error);
        return null;
      });
    const outlook = await attempt(() => this.stores.sweep.outlook(this.database.autocommit));
    const isOver = outlook?.nextEndMs === 0;
    if (!outlook || isOver) await attempt(() => this.expireSessions(stopping));
    if (!outlook || isOver) await attempt(() => this.expireStaticRules());
    if (!outlook || isOver || outlook.isDue) await attempt(() => this.distribute());
    await attempt(() => this.purge());
    await attempt(() => this.onceAMinute());
    if (failures.length > 0) throw new AggregateError(failures, 'Not all of the sweep was done');
    this.sweptAt = this.now();
    return outlook!.nextEndMs;
  }

  /** Whether this worker sweeps, and does whatever else one worker does for all. */
  get isSweeping(): boolean {
    return this.sweeps;
  }

  /** Takes or renews the lease. When another worker holds it, asks again at its end. */
  private async ask(): Promise<void> {
    const { sweeperLease } = this.stores;
    const { autocommit } = this.database;
    try {
      const sweptAgoMs = this.sweptAt === null ? null : this.now() - this.sweptAt;
      const found = await sweeperLease.find(autocommit, this.workerId);
      const role = sweeperRole(found, this.workerId, LEASE_SECONDS * 1000, sweptAgoMs);
      const isLost = role.lease !== null && !(await sweeperLease.save(autocommit, found, role.lease));
      this.sweptAt = null;
      this.sweeps = role.sweeps && !isLost;
      this.hasOthers = role.hasOthers;
      const heldForMs = Math.min(role.heldForMs, LEASE_SECONDS * 1000);
      this.askAt = this.now() + (isLost ? 0 : this.sweeps ? RENEW_AFTER_MS : heldForMs);
    } catch (error) {
      this.sweeps = false;
      throw error;
    }
  }

  /**
   * Expires sessions and static IP rules regardless of the sweeper lease. Call it before a worker takes work: the lease of a crashed sweeper may
   * still run, and removals left by an outage must come before additions.
   */
  async catchUp(): Promise<void> {
    await this.expireSessions(new AbortController().signal);
    await this.expireStaticRules();
  }

  /** Call it on shutdown, so that the next worker that asks sweeps. Wake-ups reach the others meanwhile. */
  standDown(): Promise<void> {
    this.sweeps = false;
    return this.stores.sweeperLease.release(this.database.autocommit, this.workerId);
  }

  private async expireSessions(stopping: AbortSignal): Promise<void> {
    let distributedAt = this.now();
    let ended: WokenTargets[] = [];
    for (;;) {
      const { count, targets } = await this.database.transaction((tx) =>
        this.stores.sweep.expireSessions(tx, BATCH_SIZE),
      );
      if (count > 0) this.log.info({ count }, 'Sessions are over');
      ended.push(...targets);
      const isLast = count < BATCH_SIZE || stopping.aborted;
      if (!isLast && this.now() - distributedAt < EXPIRE_FIRST_MS) continue;
      if (this.hasOthers) this.dispatch(ended);
      if (isLast) return;
      await this.distribute();
      ended = [];
      distributedAt = this.now();
    }
  }

  /** More than a batch are left to the next sweep, which follows at once. */
  private async expireStaticRules(): Promise<void> {
    const { count, targets } = await this.database.revocation((tx) =>
      this.stores.sweep.expireStaticRules(tx, BATCH_SIZE),
    );
    if (count > 0) this.log.info({ count }, 'Static IP rules are over');
    if (this.hasOthers) this.dispatch(targets);
  }

  /** Fills this worker's slots, and wakes other workers for the rest. */
  private async distribute(): Promise<void> {
    const waiting = await this.runner.fill(this.hasOthers);
    if (!this.hasOthers) return;
    const byProvider = grouped(waiting, ({ provider }) => provider);
    this.dispatch(
      [...byProvider].map(([provider, uses]) => ({
        provider,
        targetIds: uses.map(({ targetId }) => targetId),
      })),
    );
  }

  private async purge(): Promise<void> {
    if (this.now() - this.purgedAt < PURGE_INTERVAL_MS) return;
    await this.stores.sweep.purge(this.database.autocommit, BATCH_SIZE);
    await this.database.transaction((tx) => this.purgeRules(tx));
    this.purgedAt = this.now();
  }

  /** Deletes rules that are over. Settlements delete them themselves, unless a call was still in flight then. */
  private async purgeRules(tx: Tx): Promise<void> {
    const { rules: store } = this.stores;
    const { rules, now } = await store.lockUnheld(tx, BATCH_SIZE);
    const over = rules.filter((rule) => ruleLife.isOver(rule, now));
    await store.deleteUnheld(
      tx,
      over.map(({ id }) => id),
    );
  }

  private async onceAMinute(): Promise<void> {
    if (this.now() - this.maintainedAt < 60_000) return;
    await this.database.transaction((tx) => this.bringForward(tx));
    await this.database.transaction((tx) => this.purgeCredentials(tx));
    this.maintainedAt = this.now();
  }

  /** Corrects due times after the database clock was set back, and makes rules due that are to be renewed. */
  private async bringForward(tx: Tx): Promise<void> {
    const { rules: store, sweep } = this.stores;
    const { rules, now } = await store.lockMisdated(tx, LONG_WAIT_SECONDS, LONGEST_RENEW_LEAD, BATCH_SIZE);
    const moved = rules.map((rule) => ruleLife.broughtForward(rule, now));
    // suspended rules wait for an hour, rightly
    await store.save(tx, { rules: moved.filter((rule, index) => rule !== rules[index]) });
    await sweep.bringForward(tx);
  }

  /**
   * Deletes unused deleted credentials. Rules that other organizations hold are read again, through their access paths, which
   * then take them over (`accessToAdopt`).
   */
  private async purgeCredentials(tx: Tx): Promise<void> {
    const { rules: store, sweep } = this.stores;
    const used = await sweep.purgeCredentials(tx, CREDENTIALS_BATCH_SIZE);
    if (used.length === 0) return;
    const { rules, now } = await store.lockWrittenWith(tx, used);
    await store.save(tx, { rules: rules.map((rule) => ruleLife.reread(rule, now)) });
  }
}
