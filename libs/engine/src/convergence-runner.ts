import type { Logger } from 'pino';
import type { SweepStore } from '#engine-store';
import type { Transactions } from '#entities';
import { chooseFairly, type SlotUse } from '#rules';
import type { Timing } from './timing';

/** Targets read per slot, so that successors are known when slots become free. */
const WAITING_PER_SLOT = 3;
/** Throttle for polling the database, so that failing targets do not keep it busy. */
const POLL_INTERVAL_MS = 100;
const NOOP = (): void => undefined;

/** Converges one target to its desired state. */
export interface Convergence {
  /** @param stopping aborted: returns after the current step */
  converge(target: Pick<SlotUse, 'targetId' | 'provider'>, stopping: AbortSignal): Promise<void>;
  /** Releases all leases. */
  handOver(): Promise<void>;
}

interface Running {
  readonly use: SlotUse;
  readonly done: Promise<void>;
  /** resolves `done` early */
  readonly abandon: () => void;
  /** woken meanwhile: it may have read the due rules too early */
  rerun: boolean;
}

/** Merges the entries of a target that waits for several organizations. The most urgent one decides. */
const merged = (use: SlotUse, other: SlotUse | undefined): SlotUse =>
  other
    ? { ...other, closing: use.closing || other.closing, deferrable: use.deferrable && other.deferrable }
    : use;

/**
 * Runs convergences in this process: one per target, at most `capacity` in total, with a fair share for each organization.
 * Wake-ups and the sweep only add targets; the order is decided here.
 */
export class ConvergenceRunner {
  private readonly running = new Map<string, Running>();
  /** Hints only: a convergence reads the due rules itself. */
  private readonly waiting = new Map<string, SlotUse>();
  /** the database may have more waiting targets than `waiting` */
  private hasMore = false;
  private filledAt = -Infinity;
  private isRefilling = false;
  private readonly stopping = new AbortController();

  constructor(
    private readonly database: Transactions,
    private readonly store: SweepStore,
    private readonly converger: Convergence,
    private readonly slots: { readonly capacity: number; readonly timing: Timing },
    private readonly log: Logger,
  ) {}

  /**
   * Queues a target with due rules. Returns after its convergence, or at once when nothing is due, it is already running, or
   * it has to wait for a slot.
   */
  async wake(targetId: string): Promise<void> {
    const known = this.running.get(targetId);
    if (known) {
      known.rerun = true;
      return;
    }
    const use = await this.store.waitingTarget(this.database.autocommit, targetId);
    if (!use || this.isStopping) return;
    this.waiting.set(targetId, use);
    this.startNext();
    // where this one has to wait there is probably more, and the sweeping worker does not know when slots become free here
    if (this.waiting.has(targetId)) this.hasMore = true;
    await this.running.get(targetId)?.done;
  }

  /**
   * Reads the waiting targets and starts as many as the shares allow. The sweeping worker calls it; every worker continues
   * with it while targets wait for its slots, so that a backlog is worked off by all of them.
   * @param forOthers whether other workers take what this one has no slots for
   * @returns the targets that still wait @throws Error when the database is unreachable
   */
  async fill(forOthers = false): Promise<readonly SlotUse[]> {
    this.filledAt = this.slots.timing.now();
    const limit = this.slots.capacity * WAITING_PER_SLOT;
    const perOrganization = forOthers ? limit : this.slots.capacity;
    const found = await this.store.waitingTargets(this.database.autocommit, perOrganization, limit);
    if (this.isStopping) return [];
    // where targets have many due rules, a query of a backlog may find as few as half of them
    this.hasMore = found.length * 2 >= this.slots.capacity;
    this.waiting.clear();
    for (const use of found) this.waiting.set(use.targetId, merged(use, this.waiting.get(use.targetId)));
    this.startNext();
    return [...this.waiting.values()].filter(({ targetId }) => !this.running.has(targetId));
  }

  /**
   * Starts no more convergences and lets running ones finish their step. After the timeout their leases are released, and
   * another worker observes the outcome.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.stopping.abort();
    this.waiting.clear();
    const timer = setTimeout(() => {
      this.log.warn({ targets: this.running.size }, 'Work under way is left to the next worker');
      for (const { abandon } of this.running.values()) abandon();
    }, timeoutMs);
    await Promise.all([...this.running.values()].map(({ done }) => done));
    clearTimeout(timer);
    await this.converger.handOver();
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private startNext(): void {
    const waiting = [...this.waiting.values()].filter(({ targetId }) => !this.running.has(targetId));
    const running = [...this.running.values()].map(({ use }) => use);
    for (const use of chooseFairly(waiting, running, this.slots.capacity)) this.start(use);
  }

  private start(use: SlotUse): void {
    const { targetId } = use;
    this.waiting.delete(targetId);
    const converged = this.converger
      .converge(use, this.stopping.signal)
      // due rules stay due for the next sweep
      .catch((error: unknown) => this.log.error({ err: error, targetId }, 'A convergence broke off'))
      .finally(() => this.ended(targetId));
    let abandon = NOOP;
    const done = new Promise<void>((resolve) => {
      abandon = resolve;
      void converged.then(resolve);
    });
    this.running.set(targetId, { use, done, abandon, rerun: false });
  }

  private ended(targetId: string): void {
    const rerun = this.running.get(targetId)?.rerun ?? false;
    this.running.delete(targetId);
    if (this.isStopping) return;
    this.startNext();
    if (rerun) this.inBackground(this.wake(targetId));
    if (this.hasMore && this.waiting.size === 0 && !this.isRefilling) this.inBackground(this.refill());
  }

  private async refill(): Promise<void> {
    this.isRefilling = true;
    try {
      const waitMs = this.filledAt + POLL_INTERVAL_MS - this.slots.timing.now();
      if (waitMs > 0) await this.slots.timing.wait(waitMs);
      if (!this.isStopping) await this.fill();
    } finally {
      this.isRefilling = false;
    }
  }

  private inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.log.error({ err: error }, 'What is due could not be read'));
  }
}
