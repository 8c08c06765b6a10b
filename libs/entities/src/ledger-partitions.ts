import type { Transactions } from './database';
import { MonthlyPartitions, type UpkeepOutcome } from './monthly-partitions';

/** Maintains the ledger's monthly partitions and its unwritten events. Serves all organizations. */
export class LedgerPartitions extends MonthlyPartitions {
  constructor(private readonly ledger: Transactions) {
    super(ledger, 'rule_events');
  }

  /**
   * Drops the months that ended before the retention period. A month in which a still present rule was opened is kept:
   * its event is the only record of who has had access, and since when.
   * @returns the names of the dropped partitions; `later` when some could not be dropped yet
   */
  async dropExpired(retentionMonths: number): Promise<{ dropped: string[]; outcome: UpkeepOutcome }> {
    const dropped: string[] = [];
    const expired = await this.ledger.autocommit.query<{ name: string }[]>(
      'SELECT name FROM expired_rule_events($1) AS name',
      [retentionMonths],
    );
    for (const { name } of expired) {
      const outcome = await this.exclusively((tx) =>
        tx.query('SELECT drop_expired_rule_events($1, $2)', [name, retentionMonths]),
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
    const written = await this.ledger.autocommit.query<object[]>(
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
