import type { Provider } from '#rules';
import { returned, type Tx } from './database';

/** The right to converge one cloud object, until it runs out on the database's clock. */
export interface Lease {
  readonly targetId: string;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly identifier: string;
  /** fencing: what was worked out under an older generation is never written */
  readonly generation: string;
  /** how long ago the object was last written; null: never */
  readonly sinceLastWriteMs: number | null;
  /** how many changes that write had */
  readonly lastWriteSize: number;
  /** it is to be compared with the cloud */
  readonly reconcileDue: boolean;
}

/** Leases belong to no organization: a cloud object may be named by several. */
export class LeaseStore {
  /** @returns null while another worker holds the object */
  async take(tx: Tx, targetId: string, seconds: number): Promise<Lease | null> {
    const [lease] = returned<Lease>(
      await tx.query(
        `UPDATE targets SET lease_generation = lease_generation + 1, lease_until = now() + make_interval(secs => $2)
         WHERE id = $1 AND (lease_until IS NULL OR lease_until <= now())
         RETURNING id AS "targetId", provider, resource_type AS "resourceType", identifier,
           lease_generation AS generation, extract(epoch FROM now() - last_write_at)::float8 * 1000 AS "sinceLastWriteMs",
           last_write_size AS "lastWriteSize", reconcile_due_at <= now() AS "reconcileDue"`,
        [targetId, seconds],
      ),
    );
    return lease ?? null;
  }

  /** @returns false when the lease ran out and another worker took it */
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
   * Nobody else takes the object until the transaction ends. To be called before what was worked out under the lease
   * is written. @returns false when the lease was lost meanwhile
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
}

/** Shared by all workers: how many write calls an account may still make. */
export class WriteBudgetStore {
  /**
   * Takes write calls from the account's bucket, in one statement on the database's clock.
   * @param calls how many
   * @param reserve tokens that must stay behind, kept for removals
   * @returns 0 when taken, else milliseconds until it may be
   */
  async take(
    tx: Tx,
    accountKey: string,
    budget: { burst: number; refillPerSecond: number },
    calls: number,
    reserve: number,
  ): Promise<number> {
    const filled = `LEAST($2::float8, b.tokens + extract(epoch FROM now() - b.refilled_at) * $3::float8)`;
    const [taken] = await tx.query<{ left: number }[]>(
      `INSERT INTO write_budgets AS b (account_key, tokens, refilled_at) VALUES ($1, $2::float8 - $5::float8, now())
       ON CONFLICT (account_key) DO UPDATE SET tokens = ${filled} - $5::float8, refilled_at = now()
         WHERE ${filled} - $5::float8 >= $4::float8
       RETURNING tokens AS left`,
      [accountKey, budget.burst, budget.refillPerSecond, reserve, calls],
    );
    return taken ? 0 : Math.ceil((1000 * calls) / budget.refillPerSecond);
  }

  /** Puts back calls that were taken and not made. */
  async give(tx: Tx, accountKey: string, budget: { burst: number }, calls: number): Promise<void> {
    await tx.query(
      'UPDATE write_budgets SET tokens = LEAST($2::float8, tokens + $3::float8) WHERE account_key = $1',
      [accountKey, budget.burst, calls],
    );
  }
}
