import { Injectable } from '@nestjs/common';
import { EnginePort, type OverdueRuleRow } from '#engine-store/port';
import type { Slice, Sliced, Tx } from '#entities';
import { type PlatformOrganizationRow, Tenants } from '#tenant-store';
import { asOrganizationId } from '#rules';
import { recordAction, type ActionObject } from '../audit/action-records';
import { conflict, notFound } from '../errors';
import type { Actor } from '../http/actor';
import { OrganizationDeletion } from '../organization/organization-deletion.service';

/** Administration of all organizations, for operators of the service. */
@Injectable()
export class PlatformService {
  constructor(
    private readonly stores: Tenants,
    private readonly engine: EnginePort,
    private readonly deletion: OrganizationDeletion,
  ) {}

  list(search: string | undefined, slice: Slice): Promise<Sliced<PlatformOrganizationRow>> {
    return this.stores.platform.list(this.stores.autocommit, search ?? null, slice);
  }

  find(id: string): Promise<PlatformOrganizationRow> {
    return this.requireOrganization(this.stores.autocommit, id);
  }

  /** Rules that should be gone and are not, the oldest first. */
  overdueRules(slice: Slice): Promise<Sliced<OverdueRuleRow>> {
    return this.engine.backlog.overdueRules(this.stores.autocommit, slice);
  }

  /**
   * The organization can no longer start or extend sessions from the next request on.
   * @throws ApiError 409 when it is suspended
   */
  async suspend(actor: Actor, id: string, reason: string): Promise<PlatformOrganizationRow> {
    return this.stores.transaction(async (tx) => {
      const suspended = await this.stores.platform.suspend(tx, id, reason);
      const organization = await this.requireOrganization(tx, id);
      if (!suspended) throw conflict('The organization is suspended already');
      await recordAction(tx, actor, 'ORGANIZATION_SUSPENDED', objectOf(organization), { reason });
      return organization;
    });
  }

  /** @throws ApiError 409 when it is not suspended, or deleted */
  async reactivate(actor: Actor, id: string): Promise<PlatformOrganizationRow> {
    return this.stores.transaction(async (tx) => {
      const reactivated = await this.stores.platform.reactivate(tx, id);
      const organization = await this.requireOrganization(tx, id);
      if (!reactivated) throw conflict('The organization is not suspended, or it is deleted');
      await recordAction(tx, actor, 'ORGANIZATION_REACTIVATED', objectOf(organization));
      return organization;
    });
  }

  /** Of a deleted one, what is left of its deletion is tried again. */
  async delete(actor: Actor, id: string, reason: string): Promise<PlatformOrganizationRow> {
    const { organization, due } = await this.stores.transaction(async (tx) => {
      const targets = await this.deletion.begin(tx, actor, asOrganizationId(id));
      const row = await this.requireOrganization(tx, id);
      if (targets) await recordAction(tx, actor, 'ORGANIZATION_DELETED', objectOf(row), { reason });
      return { organization: row, due: targets ?? [] };
    });
    await this.deletion.goOn(actor, organization.id, due);
    return organization;
  }

  private async requireOrganization(tx: Tx, id: string): Promise<PlatformOrganizationRow> {
    const organization = await this.stores.platform.find(tx, id);
    if (!organization) throw notFound(`Organization ${id} does not exist`);
    return organization;
  }
}

/** Recorded in the trail of the affected organization, so that its administrators can see the actor. */
const objectOf = ({ id, name }: PlatformOrganizationRow): ActionObject => ({
  type: 'ORGANIZATION',
  id,
  name,
  organizationId: id,
});
