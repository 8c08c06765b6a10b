import type { Transactions, Tx } from './database';
import { exclusively, type UpkeepOutcome } from './partition-upkeep';

/** Key of the advisory lock of partition upkeep; arbitrary, used only here. */
export const AUDIT_UPKEEP_LOCK = 466_004;

/** A partition of the audit records, named after the last month it covers. */
export interface AuditMonth {
  /** of its table */
  readonly name: string;
  /** `YYYY-MM` */
  readonly month: string;
}

/** SQL: the partitions of audit records but the default one, with their months and bounds. */
export const AUDIT_MONTHS = `SELECT c.oid, c.relname::text AS name, to_date(right(c.relname, 7), 'YYYY_MM') AS month,
    substring(bounds from 'FROM \\(''([^'']+)''\\)')::timestamptz AS first,
    substring(bounds from 'TO \\(''([^'']+)''\\)')::timestamptz AS next
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS bounds
  WHERE i.inhparent = 'audit_records'::regclass AND c.relname ~ '^audit_records_\\d{4}_\\d{2}$'`;

/** Maintains the monthly partitions of the audit records. Serves all organizations; drops nothing. */
export class AuditPartitions {
  constructor(private readonly database: Transactions) {}

  /**
   * Creates the partitions up to so many months ahead. Records in the default partition become a partition of their own.
   * Idempotent.
   */
  async createMissing(monthsAhead: number): Promise<UpkeepOutcome> {
    const { autocommit } = this.database;
    const [used] = await autocommit.query<{ isUsed: boolean }[]>(
      'SELECT is_default_audit_records_used() AS "isUsed"',
    );
    if (!used!.isUsed && (await missingMonths(autocommit, monthsAhead)).length === 0) return 'done';
    const attached = await exclusively(this.database, AUDIT_UPKEEP_LOCK, (tx) =>
      tx.query('SELECT attach_default_audit_records()'),
    );
    if (attached === 'later') return attached;
    // one for each transaction: readers wait for its end
    for (const month of await missingMonths(autocommit, monthsAhead)) {
      const outcome = await exclusively(this.database, AUDIT_UPKEEP_LOCK, (tx) =>
        tx.query('SELECT create_audit_records_partition($1)', [month]),
      );
      if (outcome === 'later') return outcome;
    }
    return 'done';
  }
}

/** The months to come after the last partition. */
async function missingMonths(tx: Tx, monthsAhead: number): Promise<string[]> {
  const rows = await tx.query<{ month: string }[]>(
    `WITH known AS (SELECT max(month) AS last FROM (${AUDIT_MONTHS}) m), today AS (SELECT now() AT TIME ZONE 'UTC' AS now)
     SELECT month::date::text AS month FROM known, today, generate_series(
       greatest(date_trunc('month', today.now), known.last + interval '1 month'),
       today.now + make_interval(months => $1), interval '1 month') month`,
    [monthsAhead],
  );
  return rows.map(({ month }) => month);
}
