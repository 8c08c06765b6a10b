import type { Transactions, Tx } from './database';
import { postgresErrorField } from './postgres-error';

/** The tables in monthly partitions, each with the key of the advisory lock of its upkeep; arbitrary, used only here. */
const LOCKS = { rule_events: 466_002, audit_records: 466_004 } as const;
/** Short, because everybody else queues behind a lock request that waits. */
const LOCK_TIMEOUT_MS = 20;
const LOCK_NOT_AVAILABLE = '55P03';

/** `later`: another process changes partitions, or a table was in use; nothing was changed. */
export type UpkeepOutcome = 'done' | 'later';

/** A partition of the audit records, named after the last month it covers. */
export interface AuditMonth {
  /** of its table */
  readonly name: string;
  /** `YYYY-MM` */
  readonly month: string;
}

/** Maintains the monthly partitions of a table. Serves all organizations. */
export class MonthlyPartitions {
  constructor(
    private readonly database: Transactions,
    private readonly table: keyof typeof LOCKS,
  ) {}

  /**
   * Creates the partitions up to so many months ahead. Rows in the default partition become a partition of their own.
   * Idempotent.
   */
  async createMissing(monthsAhead: number): Promise<UpkeepOutcome> {
    const { autocommit } = this.database;
    const [used] = await autocommit.query<{ isUsed: boolean }[]>(
      `SELECT is_default_${this.table}_used() AS "isUsed"`,
    );
    if (!used!.isUsed && (await this.findMissing(monthsAhead)).length === 0) return 'done';
    const attached = await this.exclusively((tx) => tx.query(`SELECT attach_default_${this.table}()`));
    if (attached === 'later') return attached;
    // one for each transaction: readers wait for its end
    for (const month of await this.findMissing(monthsAhead)) {
      const outcome = await this.exclusively((tx) =>
        tx.query(`SELECT create_${this.table}_partition($1)`, [month]),
      );
      if (outcome === 'later') return outcome;
    }
    return 'done';
  }

  /**
   * Changes partitions in one process at a time. The lock is bound to the transaction: session locks do not work through a
   * pooler.
   */
  async exclusively(work: (tx: Tx) => Promise<unknown>): Promise<UpkeepOutcome> {
    try {
      return await this.database.transaction(async (tx) => {
        const [taken] = await tx.query<{ isOurs: boolean }[]>(
          'SELECT pg_try_advisory_xact_lock($1) AS "isOurs"',
          [LOCKS[this.table]],
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

  /** The months to come after the last partition. */
  private async findMissing(monthsAhead: number): Promise<string[]> {
    const rows = await this.database.autocommit.query<{ month: string }[]>(
      `WITH known AS (SELECT max(month) AS last FROM monthly_partitions($2)), today AS (SELECT now() AT TIME ZONE 'UTC' AS now)
       SELECT month::date::text AS month FROM known, today, generate_series(
         greatest(date_trunc('month', today.now), known.last + interval '1 month'),
         today.now + make_interval(months => $1), interval '1 month') month`,
      [monthsAhead, this.table],
    );
    return rows.map(({ month }) => month);
  }
}
