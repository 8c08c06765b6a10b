import { DatabaseError } from 'pg';
import { QueryFailedError, type EntityManager } from 'typeorm';
import { postgresErrorField } from './postgres-error';

/** Where audit records go: the trail, or the table beside it until the trail accepts records again. */
export type AuditTable = 'audit_records' | 'unwritten_audit_records';

/**
 * Lost connection, unavailable server, timeout or a transaction to be retried: the database did not refuse the
 * statement. Retrying beside the trail would double the load and fail again.
 */
const NOT_REFUSED = /^(08|40|55P03|57014|57P|53300)/;

/** The audit table of a transaction. Its ledger rows go into `rule_events`, or beside it, alike. */
export const auditTable = (tx: EntityManager): AuditTable =>
  tx.queryRunner?.data['recordsBeside'] === true ? 'unwritten_audit_records' : 'audit_records';

/** Makes a transaction write its audit records and ledger rows beside the tables that refuse them. */
export function recordBeside(tx: EntityManager): void {
  tx.queryRunner!.data['recordsBeside'] = true;
}

/** Whether the database refused a statement, which may have been the one that writes the record. */
export function isRefusal(error: unknown): boolean {
  const code = postgresErrorField(error, 'code');
  return isOfStatement(error) && code !== null && !NOT_REFUSED.test(code);
}

const isOfStatement = (error: unknown): boolean =>
  error instanceof QueryFailedError || error instanceof DatabaseError;
