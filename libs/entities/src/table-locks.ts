import type { QueryRunner } from 'typeorm';
import { postgresErrorField } from './postgres-error';

/** Well below `deadlock_timeout`: in a deadlock a migration gives way, not a request. */
const LOCK_TIMEOUT_MS = 200;
/** After many attempts: an autovacuum gives way only to a lock that is waited for longer than `deadlock_timeout`. */
const PATIENT_LOCK_TIMEOUT_MS = 2000;
const IMPATIENT_ATTEMPTS = 100;
const LOCK_PAUSE_MS = 300;
const MAX_LOCK_ATTEMPTS = 150;
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';

/**
 * Takes every lock of a migration before anything is changed. Processes of the release before go on meanwhile and take the
 * same locks in another order: altering table by table would deadlock with them. A lock that is not free is given back with
 * the others, so that they wait for the migration a moment, and then get a turn.
 * @param runner in a transaction
 */
export async function lockTables(
  runner: QueryRunner,
  tables: readonly string[],
  lockTimeoutMs = LOCK_TIMEOUT_MS,
): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    const timeout = attempts <= IMPATIENT_ATTEMPTS ? lockTimeoutMs : PATIENT_LOCK_TIMEOUT_MS;
    await runner.query(`SET LOCAL lock_timeout = ${timeout}`);
    await runner.query('SAVEPOINT before_locks');
    try {
      return void (await runner.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`));
    } catch (error) {
      const code = postgresErrorField(error, 'code');
      if (attempts === MAX_LOCK_ATTEMPTS || (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK)) throw error;
      await runner.query('ROLLBACK TO SAVEPOINT before_locks');
      await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
    }
  }
}

/** Runs statements in one transaction that has these locks. */
export async function changeLocked(
  runner: QueryRunner,
  tables: readonly string[],
  statements: readonly string[],
  lockTimeoutMs = LOCK_TIMEOUT_MS,
): Promise<void> {
  await runner.startTransaction();
  try {
    await lockTables(runner, tables, lockTimeoutMs);
    for (const statement of statements) await runner.query(statement);
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}
