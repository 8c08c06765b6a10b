import { Injectable } from '@nestjs/common';
import type { DataKeyRow } from '#entities';
import { Tenants } from '#tenant-store';
import type { OrganizationId } from '#rules';
import { MasterKeys, newDataKey, openCredential, sealCredential } from '#secrets';

type Secrets = Readonly<Record<string, string>>;

/** The organizations' data keys, which encrypt their secrets. */
@Injectable()
export class DataKeys {
  constructor(
    private readonly stores: Tenants,
    private readonly masterKeys: MasterKeys,
  ) {}

  /** The organization's data key, created on first use. */
  async of(organization: OrganizationId): Promise<DataKeyRow> {
    const existing = await this.stores.credentials.dataKey(this.stores.autocommit, organization);
    if (existing) return existing;
    const created = newDataKey(this.masterKeys, organization);
    return this.stores.credentials.getOrInsertDataKey(this.stores.autocommit, organization, created);
  }

  /** Encrypts secrets of the organization. @param id of the row that holds them */
  async seal(organization: OrganizationId, id: string, secrets: Secrets): Promise<Secrets> {
    return sealCredential(this.masterKeys, await this.of(organization), id, secrets);
  }

  /** Decrypts what `seal` has encrypted. */
  async open(organizationId: OrganizationId, sealed: { id: string; sealedData: Secrets }): Promise<Secrets> {
    return openCredential(this.masterKeys, {
      ...sealed,
      organizationId,
      dataKey: await this.of(organizationId),
    });
  }
}
