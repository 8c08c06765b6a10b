import { QueryFailedError } from 'typeorm';
import { saidByPostgres } from './database';

/** Where a deed's record goes: into the audit trail, or beside it until the trail takes records again. */
export type Trail = 'audit_records' | 'unwritten_audit_records';

/**
 * The connection or the server is away, the statement timed out, or the transaction is to be repeated: nothing is wrong
 * with the statement. Running the work again with another trail would double its load and time out again.
 */
const NOT_REFUSED = /^(08|40|57014|57P|53300)/;

/**
 * Runs what closes access. Every other deed fails when its audit record cannot be written; this one is done all the
 * same, and its record is kept to be written later.
 * @param work done again from the beginning, in a transaction of its own, when the database refuses it
 */
export async function closing<T>(work: (trail: Trail) => Promise<T>): Promise<T> {
  try {
    return await work('audit_records');
  } catch (error) {
    const code = saidByPostgres(error, 'code');
    if (!(error instanceof QueryFailedError) || code === null || NOT_REFUSED.test(code)) throw error;
    return work('unwritten_audit_records');
  }
}
