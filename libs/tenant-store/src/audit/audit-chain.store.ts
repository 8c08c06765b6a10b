import type { OrganizationId } from '#rules';
import { type AuditRecordEntity, type Tx, first } from '#entities';

/** The sealer's position in the order of (transaction, sequence). Decimal text: both are 64 bits wide. */
export interface SealPosition {
  readonly transactionId: string;
  readonly sequence: string;
}

/** A record as it is hashed: every column, `timestamp` in UTC with six decimals. */
export type SealableRecord = Omit<AuditRecordEntity, 'timestamp'> & { readonly timestamp: string };

export interface UnsealedRecord {
  readonly record: SealableRecord;
  readonly isSealed: boolean;
}

export interface Seal {
  readonly organizationId: string;
  readonly position: string;
  readonly recordId: string;
  /** the record's timestamp */
  readonly recordedAt: string;
  readonly hash: string;
}

/** One link of a chain with its record; null when the organization has no such record. */
export interface ChainLink {
  readonly position: string;
  readonly hash: string;
  readonly record: SealableRecord | null;
}

/** A range of a chain whose records are in an export, and no longer in the database. */
export interface ExportedRange {
  readonly organizationId: string;
  readonly firstPosition: string;
  readonly lastPosition: string;
  /** of the seal before the first */
  readonly hashBefore: string;
  /** of the last seal */
  readonly hash: string;
  /** of the records, `YYYY-MM` */
  readonly month: string;
}

/** An organization's record, read independently of the chain. */
export interface TrailRecord {
  readonly id: string;
  readonly timestamp: string;
  readonly sequence: string;
  readonly isSealed: boolean;
  /** the seal cursor is at or after this record */
  readonly isPassed: boolean;
}

/** Records to read: of finished transactions, or with transaction ids this cluster has not reached yet. */
export type RecordsOf = 'finished-transactions' | 'restored-transactions';

const TIME = `to_char(r.timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** SQL: a record `r` as it is hashed. */
export const SEALABLE_RECORD = `jsonb_build_object('id', r.id, 'organizationId', r.organization_id, 'sequence', r.sequence::text,
    'transactionId', r.transaction_id::text, 'eventType', r.event_type, 'timestamp', ${TIME},
    'actorType', r.actor_type, 'actorId', r.actor_id, 'actorEmail', r.actor_email, 'resourceType', r.resource_type,
    'resourceId', r.resource_id, 'resourceName', r.resource_name, 'result', r.result, 'ipAddress', r.ip_address,
    'errorMessage', r.error_message, 'details', r.details)`;

/** SQL: reads the one or two partitions that can have the record of the seal `s`, even if its time was tampered with. */
const NEAR = `r.timestamp >= s.recorded_at - interval '1 day' AND r.timestamp <= s.recorded_at + interval '1 day'`;

/**
 * SQL: the record of the seal `s` is its organization's. Not a condition for an index: on a trail without statistics, such as
 * one that was just partitioned, all of the organization's records of these days might be read for each seal.
 */
const OF_THE_CHAIN = '(r.organization_id = s.organization_id) IS TRUE';

/**
 * SQL, after seals `s`: joins the record of each; there is none when it is no longer in the database.
 * @param record what is read of the record `r`
 */
export const recordOfSeal = (record: string): string =>
  // OFFSET 0 keeps a plan from reading all partitions
  `LEFT JOIN LATERAL (SELECT ${record} AS record FROM audit_records r
     WHERE r.id = s.record_id AND ${OF_THE_CHAIN} AND ${NEAR} OFFSET 0) found ON true`;

/** Every transaction before it has finished: records that are not visible yet will never be. */
const OLDEST_RUNNING = 'pg_snapshot_xmin(pg_current_snapshot())::text::bigint';
/** This cluster has not assigned this id yet. */
const NEXT_TRANSACTION = 'pg_snapshot_xmax(pg_current_snapshot())::text::bigint';

const BOUNDS: Record<RecordsOf, string> = {
  'finished-transactions': `r.transaction_id < ${OLDEST_RUNNING}`,
  'restored-transactions': `r.transaction_id >= ${NEXT_TRANSACTION}`,
};

/**
 * SQL: whether there is something to seal. Reads one entry of an index. The first record after the cursor has the oldest
 * transaction of all that follow it. It is selected by ORDER BY and LIMIT: an EXISTS over the range makes the planner expect
 * many rows, and it reads the whole table to find that there is none.
 */
export const IS_BEHIND = `(NOT EXISTS (SELECT FROM audit_seal_cursor) OR EXISTS (
  SELECT FROM audit_seal_cursor c WHERE c.transaction_id >= ${NEXT_TRANSACTION} OR (
    SELECT r.transaction_id FROM audit_records r
    WHERE (r.transaction_id, r.sequence) > (c.transaction_id, c.sequence)
    ORDER BY r.transaction_id, r.sequence LIMIT 1) < ${OLDEST_RUNNING}))`;

/** Serves all organizations: the sealer chains every organization's records, the verifier reads every chain. */
export class AuditChainStore {
  /** @returns false when there is nothing to seal */
  async isBehind(tx: Tx): Promise<boolean> {
    const [row] = await tx.query<{ isBehind: boolean }[]>(`SELECT ${IS_BEHIND} AS "isBehind"`);
    return row!.isBehind;
  }

  /**
   * Locks the cursor until the transaction ends: one sealer at a time across all workers.
   * @returns null when another sealer holds it; `isAhead` when it was restored from a cluster with higher transaction
   *   ids
   */
  async takeCursor(tx: Tx): Promise<(SealPosition & { readonly isAhead: boolean }) | null> {
    await tx.query(
      'INSERT INTO audit_seal_cursor (id, transaction_id, sequence) VALUES (1, 0, 0) ON CONFLICT DO NOTHING',
    );
    return first<SealPosition & { isAhead: boolean }>(
      tx,
      `SELECT transaction_id::text AS "transactionId", sequence::text, transaction_id >= ${NEXT_TRANSACTION} AS "isAhead"
       FROM audit_seal_cursor FOR UPDATE SKIP LOCKED`,
    );
  }

  async moveCursor(tx: Tx, to: SealPosition): Promise<void> {
    await tx.query('UPDATE audit_seal_cursor SET transaction_id = $1, sequence = $2', [
      to.transactionId,
      to.sequence,
    ]);
  }

  /** The records after a position, in sealing order. */
  recordsAfter(tx: Tx, which: RecordsOf, after: SealPosition, limit: number): Promise<UnsealedRecord[]> {
    return tx.query(
      `SELECT ${SEALABLE_RECORD} AS record, EXISTS (SELECT FROM audit_seals s WHERE s.record_id = r.id) AS "isSealed"
       FROM audit_records r
       WHERE (r.transaction_id, r.sequence) > ($1::bigint, $2::bigint) AND ${BOUNDS[which]}
       ORDER BY r.transaction_id, r.sequence LIMIT $3`,
      [after.transactionId, after.sequence, limit],
    );
  }

  /** The last seal of each of these organizations; those without one are left out. */
  ends(tx: Tx, organizationIds: readonly string[]): Promise<Omit<Seal, 'recordId' | 'recordedAt'>[]> {
    return tx.query(
      `SELECT o.id AS "organizationId", last.position::text, last.hash
       FROM unnest($1::uuid[]) AS o(id) CROSS JOIN LATERAL (
         SELECT position, hash FROM audit_seals WHERE organization_id = o.id ORDER BY position DESC LIMIT 1) last`,
      [organizationIds],
    );
  }

  /** Fails when a position or a record is already sealed, so a chain cannot fork. */
  async append(tx: Tx, seals: readonly Seal[]): Promise<void> {
    await tx.query(
      `INSERT INTO audit_seals (organization_id, position, record_id, recorded_at, hash)
       SELECT s."organizationId", s.position, s."recordId", s."recordedAt", s.hash FROM jsonb_to_recordset($1::jsonb)
         AS s("organizationId" uuid, position bigint, "recordId" uuid, "recordedAt" timestamptz, hash text)`,
      [JSON.stringify(seals)],
    );
  }

  /** Makes the transaction read from one snapshot. Must be its first statement. */
  async useSnapshot(tx: Tx): Promise<void> {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  }

  /** @param slug null for all */
  organizations(tx: Tx, slug: string | null): Promise<{ id: OrganizationId; slug: string }[]> {
    return tx.query('SELECT id, slug FROM organizations WHERE $1::text IS NULL OR slug = $1 ORDER BY slug', [
      slug,
    ]);
  }

  linksAfter(tx: Tx, organization: OrganizationId, position: string, limit: number): Promise<ChainLink[]> {
    return tx.query(
      `SELECT s.position::text, s.hash, found.record
       FROM (SELECT * FROM audit_seals WHERE organization_id = $1 AND position > $2 ORDER BY position LIMIT $3) s
       ${recordOfSeal(SEALABLE_RECORD)}
       ORDER BY s.position`,
      [organization, position, limit],
    );
  }

  /** The ranges of a chain that are no longer in the database, in order. */
  listExported(tx: Tx, organization: OrganizationId): Promise<ExportedRange[]> {
    return tx.query(
      `SELECT organization_id AS "organizationId", first_position::text AS "firstPosition",
         last_position::text AS "lastPosition", hash_before AS "hashBefore", hash, month
       FROM audit_exports e WHERE e.organization_id = $1 ORDER BY e.first_position`,
      [organization],
    );
  }

  /** The records of an organization after a given one (null: from the first), with their sealing state. */
  trailAfter(
    tx: Tx,
    organization: OrganizationId,
    after: Pick<TrailRecord, 'timestamp' | 'sequence'> | null,
    limit: number,
  ): Promise<TrailRecord[]> {
    return tx.query(
      `SELECT r.id, ${TIME} AS timestamp, r.sequence::text,
         EXISTS (SELECT FROM audit_seals s WHERE s.record_id = r.id) AS "isSealed",
         EXISTS (SELECT FROM audit_seal_cursor c WHERE c.transaction_id < ${NEXT_TRANSACTION}
           AND (r.transaction_id, r.sequence) <= (c.transaction_id, c.sequence)) AS "isPassed"
       FROM audit_records r
       WHERE r.organization_id = $1
         AND (r.timestamp, r.sequence) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::bigint, 0))
       ORDER BY r.timestamp, r.sequence LIMIT $4`,
      [organization, after?.timestamp ?? null, after?.sequence ?? null, limit],
    );
  }
}
