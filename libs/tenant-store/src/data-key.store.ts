import { type DataKeyRow, type Tx, returned } from '#entities';

/** For the rotation of the master key: the data keys of all organizations. */
export class DataKeyStore {
  /** @returns how many are wrapped by another version of the master key */
  async countNotUnder(tx: Tx, masterKeyVersion: number): Promise<number> {
    const [counted] = await tx.query<{ count: number }[]>(
      'SELECT count(*)::int AS count FROM data_keys WHERE master_key_version <> $1',
      [masterKeyVersion],
    );
    return counted!.count;
  }

  /** One of each version of the master key that any is wrapped by. */
  oneOfEachVersion(tx: Tx): Promise<DataKeyRow[]> {
    return tx.query(
      `SELECT DISTINCT ON (master_key_version) organization_id AS "organizationId", version,
         master_key_version AS "masterKeyVersion", wrapped_key AS "wrappedKey"
       FROM data_keys ORDER BY master_key_version`,
    );
  }

  /** Some of those, locked: another run of the command takes others. */
  lockNotUnder(tx: Tx, masterKeyVersion: number, limit: number): Promise<DataKeyRow[]> {
    return tx.query(
      `SELECT organization_id AS "organizationId", version, master_key_version AS "masterKeyVersion",
         wrapped_key AS "wrappedKey"
       FROM data_keys WHERE master_key_version <> $1
       ORDER BY organization_id, version LIMIT $2 FOR UPDATE SKIP LOCKED`,
      [masterKeyVersion, limit],
    );
  }

  /** The same key in another wrapping. */
  async rewrap(tx: Tx, key: DataKeyRow): Promise<void> {
    const rows = returned(
      await tx.query(
        `UPDATE data_keys SET wrapped_key = $3, master_key_version = $4
         WHERE organization_id = $1 AND version = $2 RETURNING 1`,
        [key.organizationId, key.version, key.wrappedKey, key.masterKeyVersion],
      ),
    );
    if (rows.length !== 1) throw new Error(`The data key of organization ${key.organizationId} is gone`);
  }
}
