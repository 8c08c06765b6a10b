import { Injectable } from '@nestjs/common';
import { type DataKeyRow, Database } from '#entities';
import { TenantStores } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { MasterKeys, newDataKey } from '#secrets';

/** The organizations' data keys, which encrypt their secrets. */
@Injectable()
export class DataKeys {
  constructor(
    private readonly database: Database,
    private readonly stores: TenantStores,
    private readonly masterKeys: MasterKeys,
  ) {}

  /** The organization's data key, created on first use. */
  async of(organization: OrganizationId): Promise<DataKeyRow> {
    const existing = await this.stores.credentials.dataKey(this.database.autocommit, organization);
    if (existing) return existing;
    const created = newDataKey(this.masterKeys, organization);
    return this.stores.credentials.getOrInsertDataKey(this.database.autocommit, organization, created);
  }
}
