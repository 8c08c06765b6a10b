import type { Tx } from './database';

/** When to refuse the attempts at one account. */
export interface LockOutRule {
  /** the attempt with this number, counted from the last success, and each after it, locks the account */
  readonly lockAt: number;
  /** the first lock; each further one is twice as long */
  readonly firstLockSeconds: number;
  readonly longestLockSeconds: number;
  /** nobody tried for so long: counting begins anew */
  readonly forgetAfterSeconds: number;
}

/** Counts attempts at accounts, before anybody is known and whether the account exists or not. */
export class SignInFailureStore {
  /**
   * Counts an attempt as failed before it is made, so that those that come at once count too.
   * @returns its number since the last success; null when the account is locked
   */
  async count(tx: Tx, accountKey: string, rule: LockOutRule): Promise<number | null> {
    const [row] = await tx.query<{ failures: number }[]>(
      `INSERT INTO sign_in_failures AS f (account_key, failures, last_failed_at) VALUES ($1, 1, now())
       ON CONFLICT (account_key) DO UPDATE SET
         (failures, locked_until) = (
           SELECT n.failures, CASE WHEN n.failures >= $2::int THEN now() + make_interval(secs =>
             least($3::float8 * 2 ^ least(n.failures - $2::int, 30), $4::float8)) END
           FROM (SELECT CASE WHEN f.last_failed_at < now() - make_interval(secs => $5) THEN 1
             ELSE f.failures + 1 END AS failures) n
         ),
         last_failed_at = now()
       WHERE f.locked_until IS NULL OR f.locked_until <= now()
       RETURNING failures`,
      [accountKey, rule.lockAt, rule.firstLockSeconds, rule.longestLockSeconds, rule.forgetAfterSeconds],
    );
    return row?.failures ?? null;
  }

  /** Whole seconds until the next attempt is taken, at least 1. */
  async secondsLocked(tx: Tx, accountKey: string): Promise<number> {
    const [row] = await tx.query<{ seconds: number }[]>(
      `SELECT greatest(1, ceil(extract(epoch FROM locked_until - clock_timestamp())))::int AS seconds
       FROM sign_in_failures WHERE account_key = $1`,
      [accountKey],
    );
    return row?.seconds ?? 1;
  }

  /** After a success nothing is held against the account. */
  async forget(tx: Tx, accountKey: string): Promise<void> {
    await tx.query('DELETE FROM sign_in_failures WHERE account_key = $1', [accountKey]);
  }

  /**
   * Takes one attempt back that was neither a failure nor, so far, a success.
   * @param number what `count` said: the lock goes with the attempt that made it
   */
  async takeBack(tx: Tx, accountKey: string, number: number): Promise<void> {
    await tx.query(
      `UPDATE sign_in_failures SET failures = failures - 1,
         locked_until = CASE WHEN failures = $2 THEN NULL ELSE locked_until END
       WHERE account_key = $1 AND failures > 0`,
      [accountKey, number],
    );
  }
}
