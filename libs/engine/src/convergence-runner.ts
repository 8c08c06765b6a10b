import type { Logger } from 'pino';
import type { SweepStore } from '#engine-store';
import type { Transactions } from '#entities';
import { chooseFairly, type SlotUse } from '#rules';
import type { Timing } from './timing';

/** For each slot, how many targets are read from the database at once: who follows is then known already. */
const WAITING_PER_SLOT = 3;
/** Between two looks for more, so that what cannot be helped does not keep the database busy. */
const POLL_INTERVAL_MS = 100;
const NOBODY_WAITS = (): void => undefined;

/** Makes one object what the database wants it to be. */
export interface Convergence {
  /** @param stopping aborted: returns after the step under way, whatever is due */
  converge(object: Pick<SlotUse, 'targetId' | 'provider'>, stopping: AbortSignal): Promise<void>;
  /** Lets go of every object now. */
  handOver(): Promise<void>;
}

interface Running {
  readonly use: SlotUse;
  readonly over: Promise<void>;
  /** nobody waits for it any longer */
  readonly letGo: () => void;
  /** something came meanwhile that it may have looked too early for */
  again: boolean;
}

/** A target waits once for each organization that has something due in it: as urgent as the most urgent of them. */
const merged = (use: SlotUse, other: SlotUse | undefined): SlotUse =>
  other ? { ...other, closing: use.closing || other.closing, patient: use.patient && other.patient } : use;

/**
 * The convergences of this process: at most one of a target at a time, at most `capacity` in all, and nobody more
 * than a fair share of them. A wake-up and the sweep only point at work; who is next is decided here, in one place.
 */
export class ConvergenceRunner {
  private readonly running = new Map<string, Running>();
  /** Hints: whoever starts reads again what is due. */
  private readonly waiting = new Map<string, SlotUse>();
  /** the database may know of more than `waiting` */
  private more = false;
  private lookedAt = -Infinity;
  private readonly stopping = new AbortController();

  constructor(
    private readonly database: Transactions,
    private readonly store: SweepStore,
    private readonly converger: Convergence,
    private readonly capacity: number,
    private readonly timing: Timing,
    private readonly log: Logger,
  ) {}

  /**
   * Something is due in this target. Returns when it was converged; at once when there is nothing to do, it runs
   * already, or others are to go first: then it follows in its turn.
   */
  async wake(targetId: string): Promise<void> {
    const known = this.running.get(targetId);
    if (known) {
      known.again = true;
      return;
    }
    const use = await this.store.waitingTarget(this.database.autocommit, targetId);
    if (!use || this.isStopping) return;
    this.waiting.set(targetId, use);
    this.startWaiting();
    await this.running.get(targetId)?.over;
  }

  /**
   * Reads what waits, and starts as much of it as the shares allow. Only the worker that sweeps calls it.
   * @returns what still waits @throws Error when the database is out of reach
   */
  async fill(): Promise<readonly SlotUse[]> {
    this.lookedAt = this.timing.now();
    const found = await this.store.waitingTargets(
      this.database.autocommit,
      this.capacity,
      this.capacity * WAITING_PER_SLOT,
    );
    if (this.isStopping) return [];
    this.more = found.length >= this.capacity;
    this.waiting.clear();
    for (const use of found) this.waiting.set(use.targetId, merged(use, this.waiting.get(use.targetId)));
    this.startWaiting();
    return [...this.waiting.values()].filter(({ targetId }) => !this.running.has(targetId));
  }

  /** Another worker sweeps: this one is woken for what is due. */
  standBy(): void {
    this.more = false;
  }

  /**
   * None begins any more, and those under way end after their step. What takes longer is handed over: another worker
   * reads from the cloud how it came out.
   */
  async stop(patienceMs: number): Promise<void> {
    this.stopping.abort();
    this.waiting.clear();
    const timer = setTimeout(() => {
      this.log.warn({ objects: this.running.size }, 'Work under way is left to the next worker');
      for (const { letGo } of this.running.values()) letGo();
    }, patienceMs);
    await Promise.all([...this.running.values()].map(({ over }) => over));
    clearTimeout(timer);
    await this.converger.handOver();
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private startWaiting(): void {
    const waiting = [...this.waiting.values()].filter(({ targetId }) => !this.running.has(targetId));
    const running = [...this.running.values()].map(({ use }) => use);
    for (const use of chooseFairly(waiting, running, this.capacity)) this.start(use);
  }

  private start(use: SlotUse): void {
    const { targetId } = use;
    this.waiting.delete(targetId);
    const converged = this.converger
      .converge(use, this.stopping.signal)
      // what is due stays due for the next sweep
      .catch((error: unknown) => this.log.error({ err: error, targetId }, 'A convergence broke off'))
      .finally(() => this.ended(targetId));
    let letGo = NOBODY_WAITS;
    const over = new Promise<void>((resolve) => {
      letGo = resolve;
      void converged.then(resolve);
    });
    this.running.set(targetId, { use, over, letGo, again: false });
  }

  private ended(targetId: string): void {
    const again = this.running.get(targetId)?.again ?? false;
    this.running.delete(targetId);
    if (this.isStopping) return;
    this.startWaiting();
    if (again) this.inBackground(this.wake(targetId));
    if (this.more && this.waiting.size === 0 && this.timing.now() - this.lookedAt >= POLL_INTERVAL_MS) {
      this.inBackground(this.fill().then(() => undefined));
    }
  }

  private inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.log.error({ err: error }, 'What is due could not be read'));
  }
}
