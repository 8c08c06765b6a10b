import type { OrganizationId } from '#rules';
import {
  beginOf,
  endOf,
  first,
  type Interval,
  type TenantStore,
  type Tx,
  auditInsert,
  rows,
} from '#entities';
import { type ChainLink, recordOfSeal, SEALABLE_RECORD } from './audit-chain.store';
import { hashBefore } from './audit-export.store';

/** A sealed record; by `hashBefore`, of the seal before, it can be verified alone. */
export interface SealedRecord extends ChainLink {
  /** null: a seal is missing there */
  readonly hashBefore: string | null;
}

export interface SealedSlice extends Interval {
  /** positions, the first one excluded */
  readonly after: number;
  readonly upTo: number;
}

/** An organization's chain, as its administrators may read it. */
export class SealedRecordStore implements TenantStore<SealedRecordStore> {
  /** The last seal; null: none yet. */
  end(tx: Tx, organization: OrganizationId): Promise<Omit<ChainLink, 'record'> | null> {
    return first(
      tx,
      `SELECT s.position::text, s.hash FROM audit_seals s WHERE s.organization_id = $1 ORDER BY s.position DESC LIMIT 1`,
      [organization],
    );
  }

  /**
   * Sealed records by position. Those that the operator has exported and dropped are left out: of a chain's last one the seal
   * stays. A record that is missing for another reason is null.
   */
  slice(
    tx: Tx,
    organization: OrganizationId,
    { after, upTo, ...interval }: SealedSlice,
    limit: number,
  ): Promise<SealedRecord[]> {
    return tx.query(
      `SELECT s.position::text, (${hashBefore('s.position')}) AS "hashBefore", s.hash, found.record
       FROM (SELECT * FROM audit_seals s WHERE s.organization_id = $1 AND s.position > $2 AND s.position <= $3
         AND s.recorded_at >= $4::timestamptz AND s.recorded_at < $5::timestamptz
         AND NOT EXISTS (SELECT FROM audit_exports e WHERE e.organization_id = $1
           AND s.position BETWEEN e.first_position AND e.last_position)
         ORDER BY s.position LIMIT $6) s
       ${recordOfSeal(SEALABLE_RECORD)}
       ORDER BY s.position`,
      [organization, after, upTo, beginOf(interval), endOf(interval), limit],
    );
  }
}

/** Serves all organizations: audit records of revocations that could not be written into the trail. */
export class UnwrittenAuditStore {
  async organizations(tx: Tx): Promise<OrganizationId[]> {
    const found = await tx.query<{ id: OrganizationId }[]>(
      'SELECT DISTINCT organization_id AS id FROM unwritten_audit_records',
    );
    return found.map(({ id }) => id);
  }

  /**
   * Moves an organization's oldest ones into the trail, each with the time of its action.
   * @returns how many, at most `limit` @throws Error when the trail still refuses them
   */
  async write(tx: Tx, organization: OrganizationId, limit: number): Promise<number> {
    const taken = await rows<{ entry: object }>(
      tx,
      `DELETE FROM unwritten_audit_records WHERE id IN (
         SELECT id FROM unwritten_audit_records WHERE organization_id = $1
         ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING id, entry || jsonb_build_object('timestamp', kept_at) AS entry`,
      [organization, limit],
    );
    if (taken.length > 0) {
      await tx.query(auditInsert('$1', '$2'), [
        organization,
        JSON.stringify(taken.map(({ entry }) => entry)),
      ]);
    }
    return taken.length;
  }
}
