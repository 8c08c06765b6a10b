import type { Instant, Provider, ResourceConfig, Room } from '#rules';
import { type Tx, first, touches } from '#entities';
import { moment, ms } from './columns';

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
  /** the account was short of writes then */
  readonly isShort: boolean;
  /** the due comparison; taking the lease has already scheduled its retry, in case this worker fails */
  readonly comparison: DueComparison | null;
  readonly takenAt: Instant;
  /** of the resources on the target, each once */
  readonly configs: readonly ResourceConfig[];
  readonly noted: NotedTarget;
}

/** What is recorded of a target besides its rules. */
export interface NotedTarget {
  /** null: no limit is known */
  readonly room: readonly Room[] | null;
  /** whose write budget its changes spend; null: nothing proved yet that a credential may write there */
  readonly accountKey: string | null;
}

/** A comparison that is due. */
export interface DueComparison {
  /** a caller waits for the outcome */
  readonly requested: boolean;
  /** when it is retried if this worker fails, as database text */
  readonly againAt: string;
}

/** A write that is about to be sent. */
export interface LastWrite {
  /** number of changes */
  readonly size: number;
  /** its account is short of writes */
  readonly isShort: boolean;
}

/** The target before a write. */
export interface NotedWrite {
  /** until then an earlier write of the target's whole list may take effect */
  readonly listInFlightUntil: Instant | null;
}

/** Upper bound on the next comparison of a target after a write. */
const COMPARE_AFTER_WRITE = '45 seconds';

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
    return first<Lease>(
      tx,
      `UPDATE targets t SET lease_generation = lease_generation + 1, lease_until = now() + make_interval(secs => $2),
         reconcile_due_at = CASE WHEN old.is_due THEN now() + interval '${RETRY_COMPARISON_AFTER}' ELSE t.reconcile_due_at END
       FROM (SELECT id, reconcile_due_at <= now() AND $3 AS is_due FROM targets WHERE id = $1 FOR NO KEY UPDATE) old
       WHERE t.id = old.id AND ${UNLEASED('t')}
       RETURNING t.id AS "targetId", provider, resource_type AS "resourceType", identifier,
         lease_generation AS generation, extract(epoch FROM now() - last_write_at)::float8 * 1000 AS "sinceLastWriteMs",
         last_write_size AS "lastWriteSize", was_short AS "isShort", CASE WHEN old.is_due THEN jsonb_build_object(
           'requested', t.reconcile_requested, 'againAt', t.reconcile_due_at::text) END AS comparison, ${ms('now()')} AS "takenAt",
         ARRAY(SELECT DISTINCT config FROM resources r WHERE r.target_id = t.id AND r.deleted_at IS NULL) AS configs,
         jsonb_build_object('room', t.room, 'accountKey', t.account_key) AS noted`,
      [targetId, seconds, compares],
    );
  }

  /** @returns false when the lease expired and another worker took it */
  async renew(tx: Tx, lease: Lease, seconds: number): Promise<boolean> {
    return touches(
      tx,
      `UPDATE targets SET lease_until = now() + make_interval(secs => $3)
       WHERE id = $1 AND lease_generation = $2 RETURNING 1`,
      [lease.targetId, lease.generation, seconds],
    );
  }

  /**
   * Locks the lease until the transaction ends. Call it before writing results obtained under the lease.
   * @returns false when the lease was lost
   */
  async lock(tx: Tx, lease: Lease): Promise<boolean> {
    return touches(tx, 'SELECT 1 FROM targets WHERE id = $1 AND lease_generation = $2 FOR NO KEY UPDATE', [
      lease.targetId,
      lease.generation,
    ]);
  }

  /**
   * Notes that changes are about to be sent, under a lease that has not expired.
   * @param listInDoubtSeconds for how long a write of the target's whole list may take effect without an answer; null: only
   *   single rules are written
   * @returns null when the lease is lost: nothing may be sent
   */
  async noteWrite(
    tx: Tx,
    lease: Lease,
    { size, isShort }: LastWrite,
    listInDoubtSeconds: number | null,
  ): Promise<NotedWrite | null> {
    return first<NotedWrite>(
      tx,
      `UPDATE targets t SET last_write_at = now(), last_write_size = $3, was_short = $4,
         reconcile_due_at = least(reconcile_due_at, now() + interval '${COMPARE_AFTER_WRITE}'),
         in_flight_until = now() + make_interval(secs => $5)
       FROM (SELECT id, in_flight_until FROM targets WHERE id = $1) old
       WHERE t.id = old.id AND lease_generation = $2 AND lease_until > now()
       RETURNING ${ms('old.in_flight_until')} AS "listInFlightUntil"`,
      [lease.targetId, lease.generation, size, isShort, listInDoubtSeconds],
    );
  }

  /** The write of a whole list was answered: only an earlier one may still take effect. */
  async confirmWrite(tx: Tx, lease: Lease, { listInFlightUntil }: NotedWrite): Promise<void> {
    await tx.query(
      `UPDATE targets SET in_flight_until = ${moment('$3::float8')} WHERE id = $1 AND lease_generation = $2`,
      [lease.targetId, lease.generation, listInFlightUntil],
    );
  }

  /** Records what was learned of the target. No effect without the lease. */
  async note(tx: Tx, { targetId, generation }: Lease, { room, accountKey }: NotedTarget): Promise<void> {
    await tx.query(
      'UPDATE targets SET room = $3::jsonb, account_key = $4 WHERE id = $1 AND lease_generation = $2',
      [targetId, generation, room && JSON.stringify(room), accountKey],
    );
  }

  async release(tx: Tx, lease: Lease): Promise<void> {
    await tx.query('UPDATE targets SET lease_until = NULL WHERE id = $1 AND lease_generation = $2', [
      lease.targetId,
      lease.generation,
    ]);
  }

  /** Releases the lease unless a rule of the target is due. @returns false when one is, or the lease was lost */
  async releaseUnlessDue(tx: Tx, lease: Lease): Promise<boolean> {
    return touches(
      tx,
      `UPDATE targets SET lease_until = NULL WHERE id = $1 AND lease_generation = $2
         AND NOT EXISTS (SELECT FROM rules WHERE target_id = $1 AND due_at <= now())
       RETURNING 1`,
      [lease.targetId, lease.generation],
    );
  }
}
