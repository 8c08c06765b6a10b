import { Injectable } from '@nestjs/common';
import { type DataKeyRow, Database } from '#entities';
import { CredentialStore } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { MasterKeys, newDataKey } from '#secrets';

/** The organizations' data keys, under which their secrets are sealed. */
@Injectable()
export class DataKeys {
  constructor(
    private readonly database: Database,
    private readonly credentials: CredentialStore,
    private readonly masterKeys: MasterKeys,
  ) {}

  /** The organization's data key, made with its first secret. */
  async of(organization: OrganizationId): Promise<DataKeyRow> {
    const known = await this.credentials.dataKey(this.database.autocommit, organization);
    if (known) return known;
    const made = newDataKey(this.masterKeys, organization);
    return this.credentials.keepDataKey(this.database.autocommit, organization, made);
  }
}
