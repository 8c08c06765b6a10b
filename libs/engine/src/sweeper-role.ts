import type { SweeperLease } from '#engine-store';
import type { Instant } from '#rules';

/** Role of a worker in the sweep. */
export interface SweepRole {
  readonly sweeps: boolean;
  /** while it sweeps: other workers stand by and can be given work */
  readonly hasOthers: boolean;
  /** how long the lease lasts, this worker's or another one's, unless it is renewed or released */
  readonly heldForMs: number;
}

/** A lease that ends later than any lease can dates from before the database clock was set back. */
const MAX_LEASE_MS = 60_000;
const OTHERS_NOTED_MS = 5000;
const OTHERS_THERE_MS = 15_000;

/**
 * Gives or renews the lease, or notes that this worker stands by while another one holds it.
 * @param sweptAgoMs since the end of this worker's last successful sweep, to be recorded; null: none since it last asked
 * @returns `lease`: to be saved; null: unchanged
 */
export function sweeperRole(
  { now, ...before }: SweeperLease & { readonly now: Instant },
  workerId: string,
  leaseMs: number,
  sweptAgoMs: number | null,
): SweepRole & { readonly lease: SweeperLease | null } {
  const isOwn = before.workerId === workerId;
  const maySweep = isOwn || before.leaseUntil <= now || before.leaseUntil > now + MAX_LEASE_MS;
  const isNoted = before.othersSeenAt !== null && before.othersSeenAt >= now - OTHERS_NOTED_MS;
  if (!maySweep && isNoted)
    return { sweeps: false, hasOthers: false, heldForMs: before.leaseUntil - now, lease: null };
  const lease: SweeperLease = {
    ...(maySweep ? { workerId, leaseUntil: now + leaseMs } : before),
    othersSeenAt: isOwn ? before.othersSeenAt : now,
    sweptAt: isOwn && sweptAgoMs !== null ? now - sweptAgoMs : before.sweptAt,
  };
  const hasOthers = lease.othersSeenAt !== null && lease.othersSeenAt > now - OTHERS_THERE_MS;
  return { sweeps: maySweep, hasOthers, heldForMs: lease.leaseUntil - now, lease };
}
