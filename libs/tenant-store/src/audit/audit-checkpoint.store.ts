import type { OrganizationId } from '#rules';
import type { Tx } from '#entities';

export interface StoredCheckpoint {
  readonly organizationId: string;
  readonly position: string;
  readonly hash: string;
  readonly signedAt: string;
  readonly keyId: string;
  readonly signature: string;
}

/** As it is signed. */
const isoTime = (time: string): string =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Serves all organizations: the worker signs every chain's end, the verifier reads the checkpoints. */
export class AuditCheckpointStore {
  /**
   * Ends of chains that have grown since their last checkpoint, of organizations after `after` (null: from the first), to be
   * signed now by the database's clock.
   */
  listUnsigned(
    tx: Tx,
    after: string | null,
    limit: number,
  ): Promise<Pick<StoredCheckpoint, 'organizationId' | 'position' | 'hash' | 'signedAt'>[]> {
    return tx.query(
      `SELECT o.id AS "organizationId", last.position::text, last.hash, ${isoTime('now()')} AS "signedAt"
       FROM organizations o CROSS JOIN LATERAL (
         SELECT position, hash FROM audit_seals WHERE organization_id = o.id ORDER BY position DESC LIMIT 1) last
       WHERE ($1::uuid IS NULL OR o.id > $1) AND NOT EXISTS (
         SELECT FROM audit_checkpoints c WHERE c.organization_id = o.id AND c.position >= last.position)
       ORDER BY o.id LIMIT $2`,
      [after, limit],
    );
  }

  /** Skips positions that another worker has signed meanwhile. */
  async append(tx: Tx, checkpoints: readonly StoredCheckpoint[]): Promise<void> {
    await tx.query(
      `INSERT INTO audit_checkpoints (organization_id, position, hash, signed_at, key_id, signature)
       SELECT c."organizationId", c.position, c.hash, c."signedAt", c."keyId", c.signature
       FROM jsonb_to_recordset($1::jsonb) AS c("organizationId" uuid, position bigint, hash text,
         "signedAt" timestamptz, "keyId" text, signature text)
       ON CONFLICT DO NOTHING`,
      [JSON.stringify(checkpoints)],
    );
  }

  /** The checkpoints of a chain after a position, in order. */
  after(tx: Tx, organization: OrganizationId, position: string, limit: number): Promise<StoredCheckpoint[]> {
    return tx.query(
      `SELECT c.organization_id AS "organizationId", c.position::text, c.hash, ${isoTime('c.signed_at')} AS "signedAt",
         c.key_id AS "keyId", c.signature
       FROM audit_checkpoints c WHERE c.organization_id = $1 AND c.position > $2 ORDER BY c.position LIMIT $3`,
      [organization, position, limit],
    );
  }

  /** Deletes all but the newest checkpoint per organization and old day. @returns how many, at most `limit` */
  async deleteSuperseded(tx: Tx, limit: number): Promise<number> {
    const [row] = await tx.query<{ count: number }[]>(
      'SELECT delete_superseded_audit_checkpoints($1) AS count',
      [limit],
    );
    return row!.count;
  }
}
