import { type Tx, rows } from '#entities';
import type { PublicIdentityKey, SealedIdentityKey } from '#secrets';

/** How long a key stays published after its successor signs: what it signed ends after five minutes, caches after a day. */
const PUBLISHED_AFTERWARDS = `interval '25 hours'`;

export interface IdentityKeyRow extends SealedIdentityKey {
  readonly publicKey: PublicIdentityKey;
  /** whether it may sign: the last one that may is the one that does */
  readonly mayHaveSigned: boolean;
}

export type NewIdentityKey = Omit<IdentityKeyRow, 'mayHaveSigned'>;

const COLUMNS = `kid, public_key AS "publicKey", master_key_version AS "masterKeyVersion", sealed_key AS "sealedKey"`;

/** SQL: the keys, each with the time from which its successor signs. */
const WITH_SUCCESSOR = `SELECT *, lead(signs_from) OVER (ORDER BY generation) AS succeeded_at FROM identity_keys`;
const IS_PUBLISHED = `(succeeded_at IS NULL OR succeeded_at > now() - ${PUBLISHED_AFTERWARDS})`;

/** The deployment's identity keys. They belong to no organization: each has an issuer of its own, with the same keys. */
export class IdentityKeyStore {
  /** Those to publish, oldest first. */
  listPublished(tx: Tx): Promise<IdentityKeyRow[]> {
    return tx.query(
      `SELECT ${COLUMNS}, signs_from <= now() AS "mayHaveSigned" FROM (${WITH_SUCCESSOR}) k
       WHERE ${IS_PUBLISHED} ORDER BY generation`,
    );
  }

  /**
   * Adds a key after the others; the first one signs at once. One statement counts the keys and adds this one, and its
   * generation is unique: of two at once, one is added, and a second key never signs before it was published.
   * @param publishedSeconds how long it is published before it signs, unless it is the first one
   * @returns null when the last one does not sign yet, or another one was added meanwhile
   */
  async add(tx: Tx, key: NewIdentityKey, publishedSeconds: number): Promise<{ signsFrom: Date } | null> {
    const added = await tx.query<{ signsFrom: Date }[]>(
      `INSERT INTO identity_keys (kid, generation, public_key, master_key_version, sealed_key, signs_from)
       SELECT $1, coalesce(max(generation), 0) + 1, $2, $3, $4,
         now() + CASE WHEN count(*) = 0 THEN interval '0' ELSE make_interval(secs => $5) END FROM identity_keys
       HAVING count(*) FILTER (WHERE signs_from > now()) = 0
       ON CONFLICT DO NOTHING RETURNING signs_from AS "signsFrom"`,
      [key.kid, JSON.stringify(key.publicKey), key.masterKeyVersion, key.sealedKey, publishedSeconds],
    );
    return added[0] ?? null;
  }

  /** Adds a key that signs at once, unless there is one. Of two at once, one is added. */
  async addFirst(tx: Tx, key: NewIdentityKey): Promise<void> {
    await tx.query(
      `INSERT INTO identity_keys (kid, generation, public_key, master_key_version, sealed_key, signs_from)
       SELECT $1, 1, $2, $3, $4, now() WHERE NOT EXISTS (SELECT FROM identity_keys) ON CONFLICT DO NOTHING`,
      [key.kid, JSON.stringify(key.publicKey), key.masterKeyVersion, key.sealedKey],
    );
  }

  /** Deletes keys that are no longer published. @returns how many */
  async deleteUnpublished(tx: Tx): Promise<number> {
    const found = await rows(
      tx,
      `DELETE FROM identity_keys WHERE kid IN (SELECT kid FROM (${WITH_SUCCESSOR}) k WHERE NOT ${IS_PUBLISHED})
       RETURNING kid`,
    );
    return found.length;
  }

  /** Deletes every key. Locks the table until the commit, so that none is added or read meanwhile. */
  async deleteAll(tx: Tx): Promise<void> {
    await tx.query('LOCK TABLE identity_keys IN ACCESS EXCLUSIVE MODE');
    await tx.query('DELETE FROM identity_keys');
  }

  /** Locks those that another version of the master key seals. */
  lockOutdated(tx: Tx, masterKeyVersion: number): Promise<SealedIdentityKey[]> {
    return tx.query(
      `SELECT ${COLUMNS} FROM identity_keys WHERE master_key_version <> $1 ORDER BY generation FOR UPDATE`,
      [masterKeyVersion],
    );
  }

  /** Stores the same key, sealed by another master key. */
  async reseal(tx: Tx, { kid, sealedKey, masterKeyVersion }: SealedIdentityKey): Promise<void> {
    await tx.query('UPDATE identity_keys SET sealed_key = $2, master_key_version = $3 WHERE kid = $1', [
      kid,
      sealedKey,
      masterKeyVersion,
    ]);
  }
}
