import type { Transactions, Tx } from './database';
import { postgresErrorField } from './postgres-error';

/** Short, because everybody else queues behind a lock request that waits. */
const LOCK_TIMEOUT_MS = 20;
const LOCK_NOT_AVAILABLE = '55P03';

/** `later`: another worker holds the lock, or a table was in use; nothing was changed. */
export type UpkeepOutcome = 'done' | 'later';

/**
 * Changes partitions in one process at a time. The lock is bound to the transaction: session locks do not work through a
 * pooler.
 * @param lock key of the advisory lock
 */
export async function exclusively(
  database: Pick<Transactions, 'transaction'>,
  lock: number,
  work: (tx: Tx) => Promise<unknown>,
): Promise<UpkeepOutcome> {
  try {
    return await database.transaction(async (tx) => {
      const [taken] = await tx.query<{ isOurs: boolean }[]>(
        'SELECT pg_try_advisory_xact_lock($1) AS "isOurs"',
        [lock],
      );
      if (!taken!.isOurs) return 'later';
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await work(tx);
      return 'done';
    });
  } catch (error) {
    if (postgresErrorField(error, 'code') === LOCK_NOT_AVAILABLE) return 'later';
    throw error;
  }
}
