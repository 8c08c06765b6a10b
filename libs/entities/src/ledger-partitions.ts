import { saidByPostgres, type Transactions, type Tx } from './database';

/** Any number: only the upkeep of the ledger takes this lock. */
const UPKEEP_LOCK = 466_002;
/** While a lock is waited for, writers of the ledger queue behind it. */
const LOCK_TIMEOUT_MS = 500;
const LOCK_NOT_AVAILABLE = '55P03';
const COPY_BATCH_SIZE = 5000;

/** `later`: another worker is at it, or a table was in use; nothing was changed. */
export type UpkeepOutcome = 'done' | 'later';

/** The partitions that are months. */
const MONTHS = `SELECT c.relname AS name, to_date(right(c.relname, 7), 'YYYY_MM') AS month
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'rule_events'::regclass AND c.relname ~ '^rule_events_\\d{4}_\\d{2}$'`;

const UTC_NOW = `now() AT TIME ZONE 'UTC'`;

/** The months of the ledger, and the events that it did not take. Serves all organizations. */
export class LedgerPartitions {
  constructor(private readonly database: Transactions) {}

  /**
   * Creates the partitions of this month and of the following ones, and moves what lies in the default partition to its
   * months. Changes nothing when there is nothing to do.
   */
  async createMissing(monthsAhead: number): Promise<UpkeepOutcome> {
    const needs = await upkeepNeeds(this.database.autocommit, monthsAhead);
    if (needs.months.length === 0 && !needs.isDefaultUsed) return 'done';
    return this.alone(async (tx) => {
      const { isDefaultUsed } = await upkeepNeeds(tx, monthsAhead);
      if (isDefaultUsed) await replaceDefault(tx);
      // a month that lay in the default partition has its table now
      const { months } = await upkeepNeeds(tx, monthsAhead);
      for (const month of months) await tx.query('SELECT create_rule_events_partition($1)', [month]);
    });
  }

  /**
   * Drops the months that ended before the retention period. A month in which a rule was opened that is still live stays:
   * its event is the only record of who has had access, and since when.
   * @returns the names of the dropped partitions, and whether all were
   */
  async dropExpired(retentionMonths: number): Promise<{ dropped: string[]; outcome: UpkeepOutcome }> {
    const dropped: string[] = [];
    for (const name of await expiredMonths(this.database.autocommit, retentionMonths)) {
      const outcome = await this.alone(
        async (tx) =>
          void (await tx.query('SELECT drop_expired_rule_events($1, $2)', [name, retentionMonths])),
      );
      if (outcome === 'later') return { dropped, outcome };
      dropped.push(name);
    }
    return { dropped, outcome: 'done' };
  }

  /**
   * Moves the oldest events that the ledger did not take into it, each with its own time.
   * @returns how many, `limit` at most @throws Error when the ledger still refuses them
   */
  async writeKept(limit: number): Promise<number> {
    const written = await this.database.autocommit.query<object[]>(
      `WITH taken AS (
         DELETE FROM unwritten_rule_events WHERE id IN (
           SELECT id FROM unwritten_rule_events ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
         RETURNING id, event, kept_at
       ), numbered AS (
         SELECT event || jsonb_build_object('at', kept_at, 'id', nextval('rule_events_id_seq')) AS event
         FROM (SELECT * FROM taken ORDER BY id) ordered
       )
       INSERT INTO rule_events SELECT e.*
       FROM numbered CROSS JOIN LATERAL jsonb_populate_record(NULL::rule_events, numbered.event) e
       RETURNING 1`,
      [limit],
    );
    return written.length;
  }

  /** One worker at a time. The lock goes with the transaction: one of a connection does not survive a pooler. */
  private async alone(work: (tx: Tx) => Promise<void>): Promise<UpkeepOutcome> {
    try {
      return await this.database.transaction(async (tx) => {
        const [lock] = await tx.query<{ isOurs: boolean }[]>(
          'SELECT pg_try_advisory_xact_lock($1) AS "isOurs"',
          [UPKEEP_LOCK],
        );
        if (!lock!.isOurs) return 'later';
        await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await work(tx);
        return 'done';
      });
    } catch (error) {
      if (saidByPostgres(error, 'code') === LOCK_NOT_AVAILABLE) return 'later';
      throw error;
    }
  }
}

async function upkeepNeeds(
  tx: Tx,
  monthsAhead: number,
): Promise<{ months: string[]; isDefaultUsed: boolean }> {
  const [needs] = await tx.query<{ months: string[]; isDefaultUsed: boolean }[]>(
    `SELECT ARRAY(
         SELECT month::date::text FROM generate_series(date_trunc('month', ${UTC_NOW}),
           ${UTC_NOW} + make_interval(months => $1), interval '1 month') month
         WHERE month::date NOT IN (SELECT known.month FROM (${MONTHS}) known)
       ) AS months,
       is_default_rule_events_used() AS "isDefaultUsed"`,
    [monthsAhead],
  );
  return needs!;
}

/**
 * Copies the default partition into tables of months and replaces it by an empty one. All but what arrives meanwhile is
 * copied before its lock is taken.
 */
async function replaceDefault(tx: Tx): Promise<void> {
  const months = await tx.query<{ month: string }[]>(
    'SELECT month::text FROM months_in_default_rule_events() AS month',
  );
  for (const { month } of months) {
    for (let after: { at: string; id: string } | null = { at: '-infinity', id: '0' }; after;) {
      const [copied]: { at: string | null; id: string }[] = await tx.query(
        'SELECT at, id FROM copy_default_rule_events($1, $2, $3, $4)',
        [month, after.at, after.id, COPY_BATCH_SIZE],
      );
      after = copied?.at ? { at: copied.at, id: copied.id } : null;
    }
  }
  await tx.query('SELECT replace_default_rule_events()');
}

async function expiredMonths(tx: Tx, retentionMonths: number): Promise<string[]> {
  const rows = await tx.query<{ name: string }[]>('SELECT name FROM expired_rule_events($1) AS name', [
    retentionMonths,
  ]);
  return rows.map(({ name }) => name);
}
