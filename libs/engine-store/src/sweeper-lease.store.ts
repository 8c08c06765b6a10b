import type { Instant } from '#rules';
import { touches, type Tx } from '#entities';
import { Columns, moment, ms } from './columns';

/** Which worker sweeps. */
export interface SweeperLease {
  readonly workerId: string;
  readonly leaseUntil: Instant;
  /** when another worker last asked for it */
  readonly othersSeenAt: Instant | null;
  /** end of the last successful sweep of any worker */
  readonly sweptAt: Instant | null;
}

const LEASE = new Columns({ text: ['worker_id'], time: ['lease_until', 'others_seen_at', 'swept_at'] });

/** The lease of the sweeping worker. `sweeperRole` decides who gets it. Nothing is locked: a worker may stop at any time. */
export class SweeperLeaseStore {
  /** @param workerId of the first one who asks, who gets it */
  async find(tx: Tx, workerId: string): Promise<SweeperLease & { readonly now: Instant }> {
    const [lease] = await tx.query<(SweeperLease & { now: Instant })[]>(
      `SELECT ${LEASE.of('l')}, ${ms('now()')} AS now FROM sweeper_lease l`,
    );
    if (lease) return lease;
    await tx.query(
      'INSERT INTO sweeper_lease (id, worker_id, lease_until) VALUES (1, $1, now()) ON CONFLICT DO NOTHING',
      [workerId],
    );
    return this.find(tx, workerId);
  }

  /** @returns false when another worker has taken or renewed it since it was found */
  async save(tx: Tx, found: SweeperLease, lease: SweeperLease): Promise<boolean> {
    return touches(
      tx,
      `UPDATE sweeper_lease l SET ${LEASE.set} FROM jsonb_to_record($1::jsonb) AS given(${LEASE.given})
       WHERE l.worker_id = $2 AND l.lease_until = ${moment('$3::float8')} RETURNING 1`,
      [JSON.stringify(lease), found.workerId, found.leaseUntil],
    );
  }

  /** Call it on shutdown: the next worker that asks takes over. The row stays: it records the last sweep. */
  async release(tx: Tx, workerId: string): Promise<void> {
    await tx.query('UPDATE sweeper_lease SET lease_until = now() WHERE worker_id = $1', [workerId]);
  }
}
