import type { Instant } from '#rules';
import type { Tx } from '#entities';
import { Columns, ms } from './columns';

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

/** The lease of the sweeping worker. `sweeperRole` decides who gets it. */
export class SweeperLeaseStore {
  /** Locks it until the transaction ends. @param workerId of the first one who asks, who gets it */
  async lock(tx: Tx, workerId: string): Promise<SweeperLease & { readonly now: Instant }> {
    await tx.query(
      'INSERT INTO sweeper_lease (id, worker_id, lease_until) VALUES (1, $1, now()) ON CONFLICT DO NOTHING',
      [workerId],
    );
    const [lease] = await tx.query<(SweeperLease & { now: Instant })[]>(
      `SELECT ${LEASE.of('l')}, ${ms('now()')} AS now FROM sweeper_lease l FOR UPDATE`,
    );
    return lease!;
  }

  async save(tx: Tx, lease: SweeperLease): Promise<void> {
    await tx.query(
      `UPDATE sweeper_lease SET ${LEASE.set} FROM jsonb_to_record($1::jsonb) AS given(${LEASE.given})`,
      [JSON.stringify(lease)],
    );
  }

  /** Call it on shutdown: the next worker that asks takes over. The row stays: it records the last sweep. */
  async release(tx: Tx, workerId: string): Promise<void> {
    await tx.query('UPDATE sweeper_lease SET lease_until = now() WHERE worker_id = $1', [workerId]);
  }
}
