import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { postgresErrorField } from './postgres-error';

/** The table of an audit record: the trail, or the fallback until the trail accepts records again. */
export type Trail = 'audit_records' | 'unwritten_audit_records';

/**
 * Lost connection, unavailable server, timeout or a transaction to be retried: the database did not refuse the
 * statement. Retrying with the fallback would double the load and fail again.
 */
const NOT_REFUSED = /^(08|40|55P03|57014|57P|53300)/;

/**
 * Runs an action that revokes access. All other actions fail when their audit record cannot be written; a revocation is
 * carried out anyway, and its record goes into a fallback table, to be moved into the trail later.
 * @param work is run again in a new transaction when the database refuses it
 */
export async function withAuditFallback<T>(work: (trail: Trail) => Promise<T>): Promise<T> {
  try {
    return await work('audit_records');
  } catch (error) {
    const code = postgresErrorField(error, 'code');
    if (!isOfStatement(error) || code === null || NOT_REFUSED.test(code)) throw error;
    return work('unwritten_audit_records');
  }
}

const isOfStatement = (error: unknown): boolean =>
  error instanceof QueryFailedError || error instanceof DatabaseError;
