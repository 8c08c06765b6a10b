import type { Database, Tx } from '#entities';
import { TenantStores } from './tenant-stores';

/** The stores, with the connections that they are used on. */
export class Tenants extends TenantStores {
  constructor(readonly database: Database) {
    super();
  }

  get autocommit(): Tx {
    return this.database.autocommit;
  }

  get closing(): Database {
    return this.database.closing;
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }
}
