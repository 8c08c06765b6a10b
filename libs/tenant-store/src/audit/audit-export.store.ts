import type { OrganizationId } from '#rules';
import {
  HOLDING,
  MonthlyPartitions,
  UNFINISHED,
  type AuditMonth,
  type Transactions,
  type Tx,
  type UpkeepOutcome,
  first,
} from '#entities';
import { type ChainLink, type ExportedRange, SEALABLE_RECORD, type SealPosition } from './audit-chain.store';

/** A month whose records are all older than the ones to keep. */
export interface ExpiredMonth extends AuditMonth {
  /** a rule, a session or a static IP rule that began in it is still open: it must not be dropped */
  readonly isOpen: boolean;
}

/** The first and last position of an organization's records in a month; other months may have some between them. */
export interface PositionSpan {
  readonly organizationId: OrganizationId;
  readonly first: string;
  readonly last: string;
}

/** SQL: the hash before a position of the organization `$1`; no row: the chain has a gap there. */
export const hashBefore = (position: string): string =>
  `SELECT repeat('0', 64) AS hash WHERE ${position} = 1
   UNION ALL
   SELECT hash FROM audit_seals WHERE organization_id = $1 AND position = ${position} - 1
   UNION ALL
   SELECT hash FROM audit_exports WHERE organization_id = $1 AND last_position = ${position} - 1 LIMIT 1`;

const SEALS_BATCH_SIZE = 5000;
const ATTEMPTS = 100;
const PAUSE_MS = 100;

/** SQL: whether something that began in the month `m` is still open. Reads live rows only; sessions by organization, as their index. */
const IS_OPEN = `(
  EXISTS (SELECT FROM rules CROSS JOIN LATERAL (VALUES (present_since), (possible_since)) AS began(at)
    WHERE began.at >= m.first - interval '1 day' AND began.at < m.next)
  OR EXISTS (SELECT FROM organizations o CROSS JOIN LATERAL (
    SELECT FROM sessions s WHERE s.organization_id = o.id AND s.status IN (${UNFINISHED})
      AND s.created_at >= m.first AND s.created_at < m.next LIMIT 1) unfinished)
  OR EXISTS (SELECT FROM resource_ips ip WHERE ip.status IN (${HOLDING}, 'REMOVING')
    AND ip.created_at >= m.first AND ip.created_at < m.next))`;

/** Takes whole months out of the audit trail. Serves all organizations; works for the owner of the tables only. */
export class AuditExportStore {
  /** The months before the youngest ones, oldest first. */
  listExpired(tx: Tx, keptMonths: number): Promise<ExpiredMonth[]> {
    return tx.query(
      `SELECT m.name, to_char(m.month, 'YYYY-MM') AS month, ${IS_OPEN} AS "isOpen" FROM monthly_partitions('audit_records') m
       WHERE m.next <= date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(months => $1)
       ORDER BY m.next`,
      [keptMonths],
    );
  }

  /** The newest record of a month, in the order of sealing; null: it has none. */
  newest(tx: Tx, { name }: AuditMonth): Promise<SealPosition | null> {
    return first(
      tx,
      `SELECT r.transaction_id::text AS "transactionId", r.sequence::text FROM ${name} r
       ORDER BY r.transaction_id DESC, r.sequence DESC LIMIT 1`,
    );
  }

  async isSealed(tx: Tx, { name }: AuditMonth): Promise<boolean> {
    const [row] = await tx.query<{ isSealed: boolean }[]>(
      `SELECT NOT EXISTS (SELECT FROM ${name} r WHERE NOT EXISTS (
         SELECT FROM audit_seals s WHERE s.record_id = r.id)) AS "isSealed"`,
    );
    return row!.isSealed;
  }

  spans(tx: Tx, { name }: AuditMonth): Promise<PositionSpan[]> {
    return tx.query(
      `SELECT r.organization_id AS "organizationId", min(s.position)::text AS first, max(s.position)::text AS last
       FROM ${name} r JOIN audit_seals s ON s.record_id = r.id AND s.organization_id = r.organization_id
       GROUP BY r.organization_id ORDER BY r.organization_id`,
    );
  }

  /** Links after a position and up to the last one, each with its record if it is of this month. */
  links(
    tx: Tx,
    { name }: AuditMonth,
    { organizationId, last }: PositionSpan,
    after: string,
    limit: number,
  ): Promise<ChainLink[]> {
    return tx.query(
      `SELECT s.position::text, s.hash, found.record
       FROM (SELECT * FROM audit_seals WHERE organization_id = $1 AND position > $2 AND position <= $3
         ORDER BY position LIMIT $4) s
       LEFT JOIN LATERAL (SELECT ${SEALABLE_RECORD} AS record FROM ${name} r
         WHERE r.id = s.record_id AND r.organization_id = s.organization_id) found ON true
       ORDER BY s.position`,
      [organizationId, after, last, limit],
    );
  }

  /** The hash before a position; null: the chain has a gap there. */
  async hashBefore(tx: Tx, organization: OrganizationId, position: string): Promise<string | null> {
    const [before] = await tx.query<{ hash: string }[]>(hashBefore('$2::bigint'), [organization, position]);
    return before?.hash ?? null;
  }

  /**
   * Drops a month whose ranges were exported. The trail is locked only while the catalogue changes: a request that waits
   * for longer than the lock timeout goes first.
   * @param newest as before the export: a record that was written since then keeps the month
   * @returns `later` when the trail was in use all the time; why the month has to stay, otherwise
   */
  async drop(
    database: Transactions,
    month: AuditMonth,
    newest: SealPosition | null,
    ranges: readonly ExportedRange[],
  ): Promise<UpkeepOutcome | KeptBecause> {
    const partitions = new MonthlyPartitions(database, 'audit_records');
    try {
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await partitions.exclusively((tx) => detach(tx, month, newest, ranges));
        if (outcome === 'done') break;
        if (attempt === ATTEMPTS) return 'later';
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    } catch (error) {
      if (error instanceof MonthKept) return error.because;
      throw error;
    }
    await this.finish(database);
    return 'done';
  }

  /** Deletes what a dropped month leaves: its table, and its seals. Continues what was interrupted. */
  async finish(database: Transactions): Promise<void> {
    const { autocommit } = database;
    const tables = await autocommit.query<{ name: string }[]>(
      `SELECT c.relname AS name FROM pg_class c WHERE c.relkind = 'r' AND NOT c.relispartition
         AND c.relnamespace = 'public'::regnamespace AND c.relname ~ '^audit_records_\\d{4}_\\d{2}_exported$'`,
    );
    for (const { name } of tables) await autocommit.query(`DROP TABLE ${name}`);
    const left = await autocommit.query<{ organizationId: string; first: string; last: string }[]>(
      `SELECT e.organization_id AS "organizationId", e.first_position::text AS first, e.last_position::text AS last
       FROM audit_exports e WHERE EXISTS (
         SELECT FROM audit_seals s WHERE s.organization_id = e.organization_id
           AND s.position BETWEEN e.first_position AND e.last_position AND ${IS_NOT_LAST})`,
    );
    for (const { organizationId, first: firstPosition, last } of left) {
      for (let from = BigInt(firstPosition); from <= BigInt(last); from += BigInt(SEALS_BATCH_SIZE)) {
        await autocommit.query(
          `DELETE FROM audit_seals s WHERE s.organization_id = $1 AND s.position >= $2 AND s.position < $2::bigint + $3
             AND s.position <= $4 AND ${IS_NOT_LAST}`,
          [organizationId, String(from), SEALS_BATCH_SIZE, last],
        );
      }
    }
  }
}

/** SQL: the sealer continues from an organization's last seal, which therefore stays. */
const IS_NOT_LAST = `s.position < (SELECT max(newest.position) FROM audit_seals newest
    WHERE newest.organization_id = s.organization_id)`;

/** `open`: something that began in it is open; `written`: a record came after the export. */
type KeptBecause = 'open' | 'written';

/** The month must not be dropped. The transaction it is thrown in is aborted. */
class MonthKept extends Error {
  constructor(readonly because: KeptBecause) {
    super(`The month is kept: ${because}`);
  }
}

/** @throws MonthKept */
async function detach(
  tx: Tx,
  { name }: AuditMonth,
  newest: SealPosition | null,
  ranges: readonly ExportedRange[],
): Promise<void> {
  const [month] = await tx.query<{ isOpen: boolean }[]>(
    `SELECT ${IS_OPEN} AS "isOpen" FROM monthly_partitions('audit_records') m WHERE m.name = $1`,
    [name],
  );
  if (!month || month.isOpen) throw new MonthKept('open');
  await tx.query(
    `INSERT INTO audit_exports (organization_id, first_position, last_position, hash_before, hash, month)
     SELECT r."organizationId", r."firstPosition", r."lastPosition", r."hashBefore", r.hash, r.month
     FROM jsonb_to_recordset($1::jsonb) AS r("organizationId" uuid, "firstPosition" bigint, "lastPosition" bigint,
       "hashBefore" text, hash text, month text)`,
    [JSON.stringify(ranges)],
  );
  // the last step: what follows takes milliseconds
  await tx.query('LOCK TABLE ONLY audit_records IN ACCESS EXCLUSIVE MODE');
  const written = await tx.query<unknown[]>(
    `SELECT 1 FROM ${name} WHERE (transaction_id, sequence) > ($1::bigint, $2::bigint) LIMIT 1`,
    [newest?.transactionId ?? '0', newest?.sequence ?? '0'],
  );
  if (written.length > 0) throw new MonthKept('written');
  await tx.query(`ALTER TABLE audit_records DETACH PARTITION ${name}`);
  await tx.query(`ALTER TABLE ${name} RENAME TO ${name}_exported`);
}
