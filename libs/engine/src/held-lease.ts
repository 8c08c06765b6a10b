import { isDeepStrictEqual } from 'node:util';
import type { CloudTarget, DriverTraits } from '#drivers';
import type { LastWrite, Lease, LeaseStore, NotedTarget } from '#engine-store';
import type { Transactions } from '#entities';
import { rememberRoom, type PassFacts, type TargetRead } from '#rules';
import type { Timing } from './timing';

const LEASE_SECONDS = 10;
const RENEW_AFTER_MS = 4000;
/** No writes later than this after the last renewal: providers cannot fence them, and another worker may soon hold the lease. */
const SAFE_WRITE_MS = 9000;
/** No writes later than this after the read that they are based on: other programs may have changed rules since. */
const MAX_READ_AGE_MS = 5000;

/** Another worker holds the target, or this process is stopping: results of this worker are discarded. */
export class LeaseLost extends Error {
  constructor(targetId: string) {
    super(`The lease of target ${targetId} is lost`);
    this.name = 'LeaseLost';
  }
}

interface LeaseTaking {
  readonly database: Transactions;
  readonly leases: LeaseStore;
  readonly timing: Timing;
}

/** A held lease, renewed by the process clock. */
export class HeldLease {
  private writtenAt =
    this.lease.sinceLastWriteMs === null ? null : this.takenAt - this.lease.sinceLastWriteMs;
  private writtenSize = this.lease.lastWriteSize;
  /** the account was short of writes at the last one */
  private isShort = this.lease.isShort;
  /** what is recorded of the target */
  noted = this.lease.noted;

  private constructor(
    private readonly by: LeaseTaking,
    readonly lease: Lease,
    private readonly stopping: AbortSignal,
    private takenAt: number,
  ) {}

  /**
   * @param stopping aborted: `ensureHeld` fails, so that the lease is released at the next step
   * @returns null while another worker holds the target
   */
  static async take(
    database: Transactions,
    leases: LeaseStore,
    timing: Timing,
    targetId: string,
    stopping: AbortSignal,
  ): Promise<HeldLease | null> {
    // before the query: its answer may be delayed
    const askedAt = timing.now();
    const lease = await leases.take(database.autocommit, targetId, LEASE_SECONDS, true);
    return lease && new HeldLease({ database, leases, timing }, lease, stopping, askedAt);
  }

  /** Identifies the target at its provider. */
  get targetName(): Pick<CloudTarget, 'resourceType' | 'identifier' | 'configs'> {
    const { resourceType, identifier, configs } = this.lease;
    return { resourceType, identifier, configs };
  }

  /** What a read shows of the target that is not recorded; null: nothing. @param accountKey undefined: as it is recorded */
  newsOf({ room = [] }: TargetRead, accountKey: PassFacts['accountKey']): NotedTarget | null {
    const { noted, lease } = this;
    const remembered = rememberRoom(noted.room ?? [], room, lease.takenAt);
    const now = {
      room: remembered.length === 0 ? null : remembered,
      accountKey: accountKey ?? noted.accountKey,
    };
    return isDeepStrictEqual(now, noted) ? null : now;
  }

  /** Renews the lease if necessary. Call it before each slow step. @throws LeaseLost, also when this process is stopping */
  async ensureHeld(): Promise<void> {
    if (this.stopping.aborted) throw new LeaseLost(this.lease.targetId);
    if (this.by.timing.now() - this.takenAt < RENEW_AFTER_MS) return;
    const askedAt = this.by.timing.now();
    if (!(await this.by.leases.renew(this.by.database.autocommit, this.lease, LEASE_SECONDS))) {
      throw new LeaseLost(this.lease.targetId);
    }
    this.takenAt = askedAt;
  }

  /**
   * Call it right before a write to the provider, after recording the intent.
   * @param intentAt start of the recording, on the process clock
   * @param maxAgeMs of the intent: a write sent later may take effect after its recorded deadline
   * @param readAt end of the read that the write is based on. The lease may have been renewed after a pause that the read preceded
   * @throws LeaseLost when this process was paused for too long
   */
  assertSafeToWrite(intentAt: number, maxAgeMs: number, readAt: number): void {
    const now = this.by.timing.now();
    const isReadOld = now - readAt > MAX_READ_AGE_MS;
    if (now - this.takenAt >= SAFE_WRITE_MS || now - intentAt > maxAgeMs || isReadOld) {
      throw new LeaseLost(this.lease.targetId);
    }
  }

  /**
   * Renews the lease periodically while `work` runs, such as a slow write.
   * @throws what `work` throws. A lost lease is detected by the next step.
   */
  async renewDuring<T>(work: () => Promise<T>): Promise<T> {
    const stop = this.by.timing.every(RENEW_AFTER_MS, () => {
      void this.ensureHeld().catch((error: unknown) => {
        // other errors are retried at the next interval
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
   * Ms until the next write may be sent. Changes are gathered only while the account is short of writes, or when a write
   * blocks the next one.
   * @param addsOnly additions wait longer than removals after a burst
   */
  msUntilNextWrite({ writeSpacing, oneWriteAtATime }: DriverTraits, addsOnly: boolean): number {
    if (this.writtenAt === null || !(this.isShort || oneWriteAtATime)) return 0;
    const { usualMs, burstMs, burstSize } = writeSpacing;
    const spacingMs = addsOnly && this.writtenSize >= burstSize ? burstMs : usualMs;
    return Math.max(0, this.writtenAt + spacingMs - this.by.timing.now());
  }

  /** Call it with the turn of a write. */
  noteBudget({ isShort }: { readonly isShort: boolean }): void {
    this.isShort = isShort;
  }

  /** Call it before sending a write. @returns what to record of it */
  recordWrite(size: number): LastWrite {
    this.writtenAt = this.by.timing.now();
    this.writtenSize = size;
    return { size, isShort: this.isShort };
  }

  release(): Promise<void> {
    return this.by.leases.release(this.by.database.autocommit, this.lease);
  }

  /** @returns false when a rule of the target is due, and it is not released, or when the lease was lost */
  releaseUnlessDue(): Promise<boolean> {
    return this.by.leases.releaseUnlessDue(this.by.database.autocommit, this.lease);
  }
}
