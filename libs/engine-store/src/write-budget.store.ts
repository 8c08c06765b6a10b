import { first, type Tx } from '#entities';

/** A token bucket: write calls that an account allows at once, and its refill. */
export interface WriteBudget {
  readonly burst: number;
  readonly refillPerSecond: number;
}

const QUEUES = {
  add: 'additions_until',
  remove: 'removals_until',
  verify: 'verifications_until',
} as const;

/** Each kind of call has a queue of its own: removals are not behind additions, nor either behind verifications. */
export interface Queued {
  readonly action: keyof typeof QUEUES;
  readonly calls: number;
}

/** Calls that were taken. */
export interface BudgetTurn {
  /** until they may be sent */
  readonly waitMs: number;
  readonly fullInMs: number;
}

/**
 * Write budgets of cloud accounts, shared by all workers: the generic cell rate algorithm on the database clock. A bucket is
 * one moment, `full_at`, when it will be full again; each call moves it by the time that one token takes. A bucket that is
 * full later than it takes to fill is overdrawn: its calls are granted ahead of time.
 */
export class WriteBudgetStore {
  /**
   * Takes calls, the last of which may be sent within `maxWaitMs`.
   * @returns ms until they may be sent, and until the bucket is full; null: none taken, they would have to wait longer
   */
  take(
    tx: Tx,
    accountKey: string,
    { burst, refillPerSecond }: WriteBudget,
    calls: number,
    maxWaitMs: number,
  ): Promise<BudgetTurn | null> {
    const taken = 'greatest(b.full_at, now()) + make_interval(secs => $2)';
    return first<BudgetTurn>(
      tx,
      `INSERT INTO write_budgets AS b (account_key, full_at) VALUES ($1, now() + make_interval(secs => $2))
       ON CONFLICT (account_key) DO UPDATE SET full_at = ${taken}
         WHERE ${taken} <= now() + make_interval(secs => $3::float8 + $4::float8)
       RETURNING greatest(0, round(1000 * (extract(epoch FROM full_at - now())::float8 - $3::float8))) AS "waitMs",
         1000 * extract(epoch FROM full_at - now())::float8 AS "fullInMs"`,
      [accountKey, calls / refillPerSecond, burst / refillPerSecond, maxWaitMs / 1000],
    );
  }

  /**
   * A place in the queue of those that found the bucket empty, at most `maxWaitMs` away: when those before it will have taken
   * their calls, at the rate of the refill. Nothing is reserved, the calls are taken then.
   * @returns ms until then; null: the queue is longer
   */
  async enqueue(
    tx: Tx,
    accountKey: string,
    { burst, refillPerSecond }: WriteBudget,
    { action, calls }: Queued,
    maxWaitMs: number,
  ): Promise<number | null> {
    const until = QUEUES[action];
    const place = `greatest(${until}, full_at - make_interval(secs => $3)) + make_interval(secs => $2)`;
    const row = await first<{ waitMs: number }>(
      tx,
      `UPDATE write_budgets SET ${until} = ${place}
       WHERE account_key = $1 AND ${place} <= now() + make_interval(secs => $4)
       RETURNING greatest(0, round(1000 * extract(epoch FROM ${until} - now())::float8)) AS "waitMs"`,
      [accountKey, calls / refillPerSecond, burst / refillPerSecond, maxWaitMs / 1000],
    );
    return row?.waitMs ?? null;
  }

  /** Empties the bucket. @param waitMs until it refills */
  async empty(
    tx: Tx,
    accountKey: string,
    { burst, refillPerSecond }: WriteBudget,
    waitMs: number,
  ): Promise<void> {
    await tx.query(
      `UPDATE write_budgets SET full_at = greatest(full_at, now() + make_interval(secs => $2)) WHERE account_key = $1`,
      [accountKey, burst / refillPerSecond + waitMs / 1000],
    );
  }
}
