import { Injectable } from '@nestjs/common';
import { Database, type Slice, type Sliced, type Tx } from '#entities';
import { AuditStore, type PlatformOrganizationRow, PlatformStore } from '#tenant-store';
import type { Principal } from '#guards';
import type { HostAddress } from '#rules';
import { auditActor } from '../audit/audit-actor';
import { conflict, notFound } from '../errors';

/** For those who run the service: its organizations, and who of them may start sessions. */
@Injectable()
export class PlatformService {
  constructor(
    private readonly database: Database,
    private readonly platform: PlatformStore,
    private readonly audit: AuditStore,
  ) {}

  list(search: string | undefined, slice: Slice): Promise<Sliced<PlatformOrganizationRow>> {
    return this.platform.list(this.database.autocommit, search ?? null, slice);
  }

  find(id: string): Promise<PlatformOrganizationRow> {
    return this.existing(this.database.autocommit, id);
  }

  /** From the next request on no session of the organization starts or is extended. @throws ApiError 409 when it is suspended */
  async suspend(
    principal: Principal,
    id: string,
    reason: string,
    caller: HostAddress | null,
  ): Promise<PlatformOrganizationRow> {
    return this.database.transaction(async (tx) => {
      const suspended = await this.platform.suspend(tx, id, reason);
      const organization = await this.existing(tx, id);
      if (!suspended) throw conflict('The organization is suspended already');
      await this.record(tx, principal, caller, 'ORGANIZATION_SUSPENDED', organization, { reason });
      return organization;
    });
  }

  /** @throws ApiError 409 when it is not suspended */
  async reactivate(
    principal: Principal,
    id: string,
    caller: HostAddress | null,
  ): Promise<PlatformOrganizationRow> {
    return this.database.transaction(async (tx) => {
      const reactivated = await this.platform.reactivate(tx, id);
      const organization = await this.existing(tx, id);
      if (!reactivated) throw conflict('The organization is not suspended');
      await this.record(tx, principal, caller, 'ORGANIZATION_REACTIVATED', organization, {});
      return organization;
    });
  }

  private async existing(tx: Tx, id: string): Promise<PlatformOrganizationRow> {
    const organization = await this.platform.find(tx, id);
    if (!organization) throw notFound(`Organization ${id} does not exist`);
    return organization;
  }

  /** In the trail of the organization it was done to, whose admins may read who did it. */
  private record(
    tx: Tx,
    principal: Principal,
    caller: HostAddress | null,
    eventType: 'ORGANIZATION_SUSPENDED' | 'ORGANIZATION_REACTIVATED',
    organization: PlatformOrganizationRow,
    details: Record<string, unknown>,
  ): Promise<void> {
    return this.audit.write(tx, organization.id, {
      ...auditActor(principal, caller?.text ?? null),
      eventType,
      resourceType: 'ORGANIZATION',
      resourceId: organization.id,
      resourceName: organization.name,
      details,
    });
  }
}
