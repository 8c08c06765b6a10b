import { type SealedCredential, type Tx, type DataKeyRow, countOf, rows } from '#entities';
import type { OrganizationId } from '#rules';

/**
 * Whether a credential, or the one that its row for an account belongs to, still has these secrets. Locks them against rotation
 * until the transaction ends.
 * @param secrets null: none
 * @param lock the stronger one where the credential itself is changed next
 */
export async function hasSecrets(
  tx: Tx,
  organization: OrganizationId,
  id: string,
  secrets: SealedCredential['sealedData'] | null,
  lock: 'SHARE' | 'NO KEY UPDATE' = 'SHARE',
): Promise<boolean> {
  if (secrets === null) return true;
  const [known] = await tx.query<{ same: boolean }[]>(
    `SELECT own.sealed_data = $3::jsonb AS same
     FROM credentials c JOIN credentials own ON own.id = coalesce(c.parent_id, c.id) AND own.organization_id = $1
     WHERE c.organization_id = $1 AND c.id = $2 FOR ${lock} OF own`,
    [organization, id, JSON.stringify(secrets)],
  );
  return known?.same ?? false;
}

/** SQL: a `DataKeyRow`. */
export const DATA_KEY_COLUMNS = `organization_id AS "organizationId", version, master_key_version AS "masterKeyVersion",
  wrapped_key AS "wrappedKey"`;

/** The data keys of all organizations, for the rotation of the master key. */
export class DataKeyStore {
  /** @returns how many are wrapped by another version of the master key */
  countOutdated(tx: Tx, masterKeyVersion: number): Promise<number> {
    return countOf(tx, 'data_keys WHERE master_key_version <> $1', [masterKeyVersion]);
  }

  /** One data key for each master key version in use. */
  oneOfEachVersion(tx: Tx): Promise<DataKeyRow[]> {
    return tx.query(
      `SELECT DISTINCT ON (master_key_version) ${DATA_KEY_COLUMNS} FROM data_keys ORDER BY master_key_version`,
    );
  }

  /** Locks a batch of keys wrapped by another version; a concurrent run skips them. */
  lockOutdated(tx: Tx, masterKeyVersion: number, limit: number): Promise<DataKeyRow[]> {
    return tx.query(
      `SELECT ${DATA_KEY_COLUMNS} FROM data_keys WHERE master_key_version <> $1
       ORDER BY organization_id, version LIMIT $2 FOR UPDATE SKIP LOCKED`,
      [masterKeyVersion, limit],
    );
  }

  /** Stores the same data key, wrapped by another master key. */
  async rewrap(tx: Tx, key: DataKeyRow): Promise<void> {
    const found = await rows(
      tx,
      `UPDATE data_keys SET wrapped_key = $3, master_key_version = $4
       WHERE organization_id = $1 AND version = $2 RETURNING 1`,
      [key.organizationId, key.version, key.wrappedKey, key.masterKeyVersion],
    );
    if (found.length !== 1) throw new Error(`The data key of organization ${key.organizationId} is gone`);
  }
}
