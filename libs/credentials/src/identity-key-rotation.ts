import type { Database, Tx } from '#entities';
import { newIdentityKey, type MasterKeys } from '#secrets';
import type { IdentityKeyStore } from './identity-key.store';

/** A key is published this long before it signs: clouds may cache the published keys for a day. */
const PUBLISHED_BEFORE_SECONDS = 25 * 60 * 60;

export interface Rotation {
  readonly kid: string;
  /** from when on it signs */
  readonly signsFrom: Date;
  /** keys that were deleted, as they are no longer published */
  readonly deleted: number;
}

/** Replaces the key that signs tokens about credentials. */
export class IdentityKeyRotation {
  constructor(
    private readonly database: Database,
    private readonly masterKeys: MasterKeys,
    private readonly keys: IdentityKeyStore,
  ) {}

  /**
   * Publishes a new key, which signs a day later; the previous one stays published for another day. The first key signs at
   * once: no cloud has a list without it.
   * @returns null when the last rotation is not over yet: its key does not sign before its time
   */
  async rotate(): Promise<Rotation | null> {
    const key = await newIdentityKey(this.masterKeys);
    return this.database.transaction((tx) => this.addKey(tx, key));
  }

  /** Deletes every key, and makes one that signs at once: clouds refuse it until they fetch the list again. */
  async revoke(): Promise<Rotation | null> {
    const key = await newIdentityKey(this.masterKeys);
    return this.database.transaction(async (tx) => {
      await this.keys.deleteAll(tx);
      return this.addKey(tx, key);
    });
  }

  private async addKey(tx: Tx, key: Awaited<ReturnType<typeof newIdentityKey>>): Promise<Rotation | null> {
    const deleted = await this.keys.deleteUnpublished(tx);
    const added = await this.keys.add(tx, key, PUBLISHED_BEFORE_SECONDS);
    return added && { kid: key.kid, ...added, deleted };
  }
}
