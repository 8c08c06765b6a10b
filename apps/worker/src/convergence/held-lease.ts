import type { DriverTraits } from '#drivers';
import type { Database, Lease, LeaseStore } from '#entities';

const LEASE_SECONDS = 10;
const RENEW_AFTER_MS = 4000;

/** Another worker has the object: whatever this one worked out is void. */
export class LeaseLost extends Error {
  constructor(targetId: string) {
    super(`The lease of target ${targetId} is lost`);
    this.name = 'LeaseLost';
  }
}

/** A lease while it is held, with the clock of this process to know when to renew it. */
export class HeldLease {
  private takenAt = performance.now();
  private writtenAt: number | null;
  private writtenSize: number;

  private constructor(
    private readonly database: Database,
    private readonly leases: LeaseStore,
    readonly lease: Lease,
  ) {
    this.writtenAt = lease.sinceLastWriteMs === null ? null : this.takenAt - lease.sinceLastWriteMs;
    this.writtenSize = lease.lastWriteSize;
  }

  /** @returns null while another worker holds the object */
  static async take(database: Database, leases: LeaseStore, targetId: string): Promise<HeldLease | null> {
    const lease = await leases.take(database.autocommit, targetId, LEASE_SECONDS);
    return lease && new HeldLease(database, leases, lease);
  }

  /** What names the object in its cloud. */
  get place(): Pick<Lease, 'resourceType' | 'identifier'> {
    const { resourceType, identifier } = this.lease;
    return { resourceType, identifier };
  }

  /** Call before each step that takes time. @throws LeaseLost */
  async keep(): Promise<void> {
    if (performance.now() - this.takenAt < RENEW_AFTER_MS) return;
    const asked = performance.now();
    if (!(await this.leases.renew(this.database.autocommit, this.lease, LEASE_SECONDS))) {
      throw new LeaseLost(this.lease.targetId);
    }
    this.takenAt = asked;
  }

  /**
   * Keeps the lease while something runs that may outlast it: a cloud that carries out its writes slowly.
   * @throws what `work` throws; not that the lease was lost: whoever writes next finds out
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      void this.keep().catch(() => clearInterval(timer));
    }, RENEW_AFTER_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  /**
   * Milliseconds until a write keeps its distance from the last one.
   * @param addsOnly in a burst, adds wait longer than removals
   */
  untilSpaced({ usualMs, burstMs, burstSize }: DriverTraits['writeSpacing'], addsOnly: boolean): number {
    if (this.writtenAt === null) return 0;
    const spacingMs = addsOnly && this.writtenSize >= burstSize ? burstMs : usualMs;
    return Math.max(0, this.writtenAt + spacingMs - performance.now());
  }

  /** @param size how many changes are about to be sent */
  wrote(size: number): void {
    this.writtenAt = performance.now();
    this.writtenSize = size;
  }

  release(): Promise<void> {
    return this.leases.release(this.database.autocommit, this.lease);
  }
}
