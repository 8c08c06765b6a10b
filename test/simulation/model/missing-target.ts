import type { MissingTargetStore, NamingResource } from '#engine-store';
import type { Modelled } from './modelled';
import type { Tables } from './tables';

/** `MissingTargetStore` in memory. */
export class ModelMissingTargets implements Modelled<MissingTargetStore> {
  constructor(private readonly tables: Tables) {}

  /** A model call is a transaction: no lock is needed. */
  lockOwners(): void {
    // nothing runs concurrently
  }

  giveUp(resources: readonly Pick<NamingResource, 'id'>[], message: string): void {
    const ids = new Set(resources.map((resource) => resource.id));
    for (const ip of this.tables.ipsWhere((one) => ids.has(one.resourceId) && one.status === 'APPLIED')) {
      this.tables.moveIp(ip, 'PENDING');
      Object.assign(ip, { pendingSince: this.tables.now(), givenUp: message });
    }
    for (const id of ids)
      Object.assign(this.tables.resources.get(id)!, { isActive: false, writeVerified: false });
  }
}
