import type { Tx } from '#entities';
import type { NamingResource } from './comparison';
import { lockOwners } from './lock-owners';

/** Resources whose target no longer exists. */
export class MissingTargetStore {
  /**
   * Gives up the target for these resources: their holders become PENDING, and fail when it stays missing. The resources stay
   * inactive until they are verified again.
   * @param message for people
   */
  async giveUp(tx: Tx, resources: readonly Pick<NamingResource, 'id'>[], message: string): Promise<void> {
    const ids = resources.map((resource) => resource.id);
    await tx.query(
      `UPDATE resource_ips SET status = 'PENDING', pending_since = now(), given_up = $2
       WHERE resource_id = ANY ($1::uuid[]) AND status = 'APPLIED'`,
      [ids, message],
    );
    await tx.query(
      'UPDATE resources SET is_active = false, write_verified = false WHERE id = ANY ($1::uuid[])',
      [ids],
    );
  }

  /** Locks the owners of what `giveUp` changes, before any rule is locked. */
  async lockOwners(tx: Tx, resources: readonly Pick<NamingResource, 'id'>[]): Promise<void> {
    await lockOwners(
      tx,
      `resource_ips ip WHERE ip.resource_id = ANY ($1::uuid[]) AND ip.status = 'APPLIED'`,
      [resources.map((resource) => resource.id)],
    );
  }
}
