import type { Provider } from '#rules';
import { type Tx, returned } from '#entities';

/** The right to converge one target, until it expires on the database clock. */
export interface Lease {
  readonly targetId: string;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly identifier: string;
  /** fencing token: results of an older generation are never written */
  readonly generation: string;
  /** since the last write to the target; null: never written */
  readonly sinceLastWriteMs: number | null;
  /** number of changes in that write */
  readonly lastWriteSize: number;
  /** writes that were still possible at once right after it; null: unknown */
  readonly promptWrites: number | null;
  /** the due comparison; taking the lease has already scheduled its retry, in case this worker fails */
  readonly comparison: DueComparison | null;
}

/** A comparison that is due. */
export interface DueComparison {
  /** a caller waits for the outcome */
  readonly requested: boolean;
  /** when it is retried if this worker fails, as database text */
  readonly againAt: string;
}

/** Retry of a comparison after its worker failed. */
const RETRY_COMPARISON_AFTER = '30 seconds';

/**
 * For `WHERE`: no worker holds the target. A lease that ends later than any lease can was taken before the database clock
 * was set back.
 */
export const UNLEASED = (target: string): string =>
  `(${target}.lease_until IS NULL OR ${target}.lease_until <= now() OR ${target}.lease_until > now() + interval '1 minute')`;

/** Leases on targets. They belong to no organization: several may share a target. */
export class LeaseStore {
  /**
   * @param compares the caller performs the comparison, if one is due
   * @returns null while another worker holds the target
   */
  async take(tx: Tx, targetId: string, seconds: number, compares: boolean): Promise<Lease | null> {
    const [lease] = returned<Lease>(
      await tx.query(
        `UPDATE targets t SET lease_generation = lease_generation + 1, lease_until = now() + make_interval(secs => $2),
           reconcile_due_at = CASE WHEN old.is_due THEN now() + interval '${RETRY_COMPARISON_AFTER}' ELSE t.reconcile_due_at END
         FROM (SELECT id, reconcile_due_at <= now() AND $3 AS is_due FROM targets WHERE id = $1 FOR NO KEY UPDATE) old
         WHERE t.id = old.id AND ${UNLEASED('t')}
         RETURNING t.id AS "targetId", provider, resource_type AS "resourceType", identifier,
           lease_generation AS generation, extract(epoch FROM now() - last_write_at)::float8 * 1000 AS "sinceLastWriteMs",
           last_write_size AS "lastWriteSize", prompt_writes AS "promptWrites", CASE WHEN old.is_due THEN jsonb_build_object(
             'requested', t.reconcile_requested, 'againAt', t.reconcile_due_at::text) END AS comparison`,
        [targetId, seconds, compares],
      ),
    );
    return lease ?? null;
  }

  /** @returns false when the lease expired and another worker took it */
  async renew(tx: Tx, lease: Lease, seconds: number): Promise<boolean> {
    const rows = returned(
      await tx.query(
        `UPDATE targets SET lease_until = now() + make_interval(secs => $3)
         WHERE id = $1 AND lease_generation = $2 RETURNING 1`,
        [lease.targetId, lease.generation, seconds],
      ),
    );
    return rows.length === 1;
  }

  /**
   * Locks the lease until the transaction ends. Call it before writing results obtained under the lease.
   * @returns false when the lease was lost
   */
  async lock(tx: Tx, lease: Lease): Promise<boolean> {
    const rows = await tx.query<unknown[]>(
      'SELECT 1 FROM targets WHERE id = $1 AND lease_generation = $2 FOR NO KEY UPDATE',
      [lease.targetId, lease.generation],
    );
    return rows.length === 1;
  }

  async release(tx: Tx, lease: Lease): Promise<void> {
    await tx.query('UPDATE targets SET lease_until = NULL WHERE id = $1 AND lease_generation = $2', [
      lease.targetId,
      lease.generation,
    ]);
  }

  /** Releases the lease unless a rule of the target is due. @returns false when one is, or the lease was lost */
  async releaseUnlessDue(tx: Tx, lease: Lease): Promise<boolean> {
    const rows = returned(
      await tx.query(
        `UPDATE targets SET lease_until = NULL WHERE id = $1 AND lease_generation = $2
           AND NOT EXISTS (SELECT FROM rules WHERE target_id = $1 AND due_at <= now())
         RETURNING 1`,
        [lease.targetId, lease.generation],
      ),
    );
    return rows.length === 1;
  }
}

/** Role of a worker in the sweep. */
export interface SweepRole {
  readonly sweeps: boolean;
  /** while it sweeps: other workers stand by and can be given work */
  readonly hasOthers: boolean;
  /** how long the lease lasts, this worker's or another one's, unless it is renewed or released */
  readonly heldForMs: number;
}

/** Elects one sweeping worker; the others stand by. */
export class SweeperLeaseStore {
  /**
   * Takes or renews the lease, or registers as standing by while another worker holds it.
   * @param sweptAgoMs since the end of this worker's last successful sweep, to be recorded; null: none since the last call
   */
  async take(
    tx: Tx,
    workerId: string,
    seconds: number,
    sweptAgoMs: number | null = null,
  ): Promise<SweepRole> {
    const [role] = await tx.query<SweepRole[]>(
      `WITH taken AS (
         INSERT INTO sweeper_lease AS l (id, worker_id, lease_until) VALUES (1, $1, now() + make_interval(secs => $2))
         ON CONFLICT (id) DO UPDATE SET
           worker_id = CASE WHEN ${MAY_SWEEP} THEN $1 ELSE l.worker_id END,
           lease_until = CASE WHEN ${MAY_SWEEP} THEN excluded.lease_until ELSE l.lease_until END,
           others_seen_at = CASE WHEN l.worker_id = $1 THEN l.others_seen_at ELSE now() END,
           swept_at = CASE WHEN l.worker_id = $1 AND $3::float8 IS NOT NULL
             THEN now() - make_interval(secs => $3::float8 / 1000) ELSE l.swept_at END
         WHERE ${MAY_SWEEP} OR l.others_seen_at IS NULL OR l.others_seen_at < now() - interval '5 seconds'
         RETURNING worker_id = $1 AS sweeps, coalesce(others_seen_at > now() - interval '15 seconds', false) AS "hasOthers",
           ${HELD_FOR_MS} AS "heldForMs"
       )
       SELECT * FROM taken
       UNION ALL SELECT false, false, ${HELD_FOR_MS} FROM sweeper_lease WHERE NOT EXISTS (SELECT FROM taken)`,
      [workerId, seconds, sweptAgoMs],
    );
    // without a row another worker has just taken it
    return role ?? { sweeps: false, hasOthers: false, heldForMs: seconds * 1000 };
  }

  /** Call it on shutdown: the next worker that asks takes over. The row stays: it records the last sweep. */
  async release(tx: Tx, workerId: string): Promise<void> {
    await tx.query('UPDATE sweeper_lease SET lease_until = now() WHERE worker_id = $1', [workerId]);
  }
}

const HELD_FOR_MS = `(extract(epoch FROM lease_until - now()) * 1000)::float8`;

/** For `WHERE`: the lease is this worker's or has expired. One that ends too late dates from before a clock was set back. */
const MAY_SWEEP = `(l.worker_id = $1 OR l.lease_until <= now() OR l.lease_until > now() + interval '1 minute')`;
