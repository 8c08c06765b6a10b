import type { Transactions, Tx } from './database';
import { exclusively, type UpkeepOutcome } from './partition-upkeep';

/** Key of the advisory lock; arbitrary, used only here. */
const UPKEEP_LOCK = 466_002;
const COPY_BATCH_SIZE = 5000;

/** SQL: the monthly partitions. */
const MONTHS = `SELECT c.relname AS name, to_date(right(c.relname, 7), 'YYYY_MM') AS month
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'rule_events'::regclass AND c.relname ~ '^rule_events_\\d{4}_\\d{2}$'`;

const UTC_NOW = `now() AT TIME ZONE 'UTC'`;

/** Maintains the ledger's monthly partitions and its unwritten events. Serves all organizations. */
export class LedgerPartitions {
  constructor(private readonly database: Transactions) {}

  /**
   * Creates the partitions of this and the following months, and moves the rows of the default partition into theirs.
   * Idempotent.
   */
  async createMissing(monthsAhead: number): Promise<UpkeepOutcome> {
    const needs = await upkeepNeeds(this.database.autocommit, monthsAhead);
    if (needs.months.length === 0 && !needs.isDefaultUsed) return 'done';
    const replaced = await exclusively(this.database, UPKEEP_LOCK, async (tx) => {
      const { isDefaultUsed } = await upkeepNeeds(tx, monthsAhead);
      if (isDefaultUsed) await replaceDefault(tx);
    });
    if (replaced === 'later') return replaced;
    // replaceDefault has created the tables of the months it moved. One for each transaction: readers wait for its end
    const { months } = await upkeepNeeds(this.database.autocommit, monthsAhead);
    for (const month of months) {
      const outcome = await exclusively(this.database, UPKEEP_LOCK, (tx) =>
        tx.query('SELECT create_rule_events_partition($1)', [month]),
      );
      if (outcome === 'later') return outcome;
    }
    return 'done';
  }

  /**
   * Drops the months that ended before the retention period. A month in which a still present rule was opened is kept:
   * its event is the only record of who has had access, and since when.
   * @returns the names of the dropped partitions; `later` when some could not be dropped yet
   */
  async dropExpired(retentionMonths: number): Promise<{ dropped: string[]; outcome: UpkeepOutcome }> {
    const dropped: string[] = [];
    for (const name of await expiredMonths(this.database.autocommit, retentionMonths)) {
      const outcome = await exclusively(
        this.database,
        UPKEEP_LOCK,
        async (tx) =>
          void (await tx.query('SELECT drop_expired_rule_events($1, $2)', [name, retentionMonths])),
      );
      if (outcome === 'later') return { dropped, outcome };
      dropped.push(name);
    }
    return { dropped, outcome: 'done' };
  }

  /**
   * Moves the oldest unwritten events into the ledger, each with its own time.
   * @returns how many, at most `limit` @throws Error when the ledger still refuses them
   */
  async writeUnwritten(limit: number): Promise<number> {
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
 * Copies the default partition into monthly tables and replaces it by an empty one. Only rows that arrive meanwhile are
 * copied under its lock.
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
