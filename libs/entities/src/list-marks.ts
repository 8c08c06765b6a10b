import type { OrganizationId } from '#rules';
import type { Tx } from './database';

/** What a `TimedList` consists of. */
export type ListKind = 'sessions' | 'audit';

/** First key of the advisory locks; arbitrary, used only here. */
const MARKS_LOCK = 466_003;

/** Until the transaction ends, no row of these lists is deleted. Its next statement sees what was deleted before. */
export async function keepRows(tx: Tx, kind: ListKind): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock_shared($1, hashtext($2))', [MARKS_LOCK, kind]);
}

/** Until the transaction ends, no mark of these lists is set. */
export async function keepMarks(tx: Tx, kind: ListKind): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [MARKS_LOCK, kind]);
}

/** As `keepMarks`, unless some are being set. @returns whether it has the lock */
export async function tryKeepMarks(tx: Tx, kind: ListKind): Promise<boolean> {
  const [lock] = await tx.query<{ isOurs: boolean }[]>(
    'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS "isOurs"',
    [MARKS_LOCK, kind],
  );
  return lock!.isOurs;
}

/**
 * Deletes the marks of these lists up to the newest row that the transaction deletes from them: those after it stay right,
 * as only their differences count. Call `keepMarks` first.
 * @param organization null: all
 * @param until the time of that row
 */
export async function forgetMarks(
  tx: Tx,
  kind: ListKind,
  organization: OrganizationId | null,
  until: string,
): Promise<void> {
  await tx.query(
    `DELETE FROM list_marks WHERE kind IN ($1, '') AND at <= $2::timestamptz
       AND ($3::uuid IS NULL OR organization_id = $3)`,
    [kind, until, organization],
  );
}
