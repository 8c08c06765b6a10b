import type { DriverTraits } from '#drivers';
import type { Lease, LeaseStore } from '#engine-store';
import type { Transactions } from '#entities';
import type { Timing } from './timing';

const LEASE_SECONDS = 10;
const RENEW_AFTER_MS = 4000;
/** From then on another worker may have it, and writes to the cloud cannot be fenced. */
const CERTAIN_MS = 9000;

/** Another worker has the object, or is to have it: whatever this one worked out is void. */
export class LeaseLost extends Error {
  constructor(targetId: string) {
    super(`The lease of target ${targetId} is lost`);
    this.name = 'LeaseLost';
  }
}

/** A lease while it is held, with the clock of this process to know when to renew it. */
export class HeldLease {
  private writtenAt: number | null;
  private writtenSize: number;
  private readonly seen = new Set<string>();

  private constructor(
    private readonly database: Transactions,
    private readonly leases: LeaseStore,
    private readonly timing: Timing,
    readonly lease: Lease,
    private readonly stopping: AbortSignal,
    private takenAt: number,
  ) {
    this.writtenAt = lease.sinceLastWriteMs === null ? null : this.takenAt - lease.sinceLastWriteMs;
    this.writtenSize = lease.lastWriteSize;
  }

  /**
   * @param stopping aborted: what is kept is let go of at the next step
   * @returns null while another worker holds the object
   */
  static async take(
    database: Transactions,
    leases: LeaseStore,
    timing: Timing,
    targetId: string,
    stopping: AbortSignal,
  ): Promise<HeldLease | null> {
    // before the question: the answer may have taken long
    const asked = timing.now();
    const lease = await leases.take(database.autocommit, targetId, LEASE_SECONDS, true);
    return lease && new HeldLease(database, leases, timing, lease, stopping, asked);
  }

  /** What names the object in its cloud. */
  get place(): Pick<Lease, 'resourceType' | 'identifier'> {
    const { resourceType, identifier } = this.lease;
    return { resourceType, identifier };
  }

  /** Call before each step that takes time. @throws LeaseLost, also when this process stops */
  async keep(): Promise<void> {
    if (this.stopping.aborted) throw new LeaseLost(this.lease.targetId);
    if (this.timing.now() - this.takenAt < RENEW_AFTER_MS) return;
    const asked = this.timing.now();
    if (!(await this.leases.renew(this.database.autocommit, this.lease, LEASE_SECONDS))) {
      throw new LeaseLost(this.lease.targetId);
    }
    this.takenAt = asked;
  }

  /**
   * Call right before the cloud is written to, after an intent was noted.
   * @param intentAt when that was begun, on this process's clock
   * @param sentWithinMs how old it may be: what is sent later may land when nobody waits for it any more
   * @throws LeaseLost when this process stood still for too long meanwhile
   */
  mustBeCertain(intentAt: number, sentWithinMs: number): void {
    const now = this.timing.now();
    if (now - this.takenAt >= CERTAIN_MS || now - intentAt > sentWithinMs) {
      throw new LeaseLost(this.lease.targetId);
    }
  }

  /**
   * Keeps the lease while something runs that may outlast it: a cloud that carries out its writes slowly.
   * @throws what `work` throws; not that the lease was lost: whoever writes next finds out
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const stop = this.timing.every(RENEW_AFTER_MS, () => {
      void this.keep().catch((error: unknown) => {
        // a database that is out of reach may be back the next time
        if (error instanceof LeaseLost) stop();
      });
    });
    try {
      return await work();
    } finally {
      stop();
    }
  }

  /**
   * Milliseconds until a write keeps its distance from the last one.
   * @param addsOnly in a burst, adds wait longer than removals
   */
  untilSpaced({ usualMs, burstMs, burstSize }: DriverTraits['writeSpacing'], addsOnly: boolean): number {
    if (this.writtenAt === null) return 0;
    const spacingMs = addsOnly && this.writtenSize >= burstSize ? burstMs : usualMs;
    return Math.max(0, this.writtenAt + spacingMs - this.timing.now());
  }

  /** @param size how many changes are about to be sent */
  wrote(size: number): void {
    this.writtenAt = this.timing.now();
    this.writtenSize = size;
  }

  /**
   * Call before changes are sent.
   * @param ruleIds they are about; 'all': a list that is sent whole is about every rule in it
   */
  asks(ruleIds: readonly string[] | 'all'): void {
    if (ruleIds === 'all') this.seen.clear();
    else for (const ruleId of ruleIds) this.seen.delete(ruleId);
  }

  /** Call when a look has settled that nothing is on its way for these rules. */
  saw(ruleIds: readonly string[]): void {
    for (const ruleId of ruleIds) this.seen.add(ruleId);
  }

  /** Whatever the database notes as on its way for the rule: what was seen could not be written down yet. */
  hasSeen(ruleId: string): boolean {
    return this.seen.has(ruleId);
  }

  release(): Promise<void> {
    return this.leases.release(this.database.autocommit, this.lease);
  }
}
