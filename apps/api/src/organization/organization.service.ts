import { Injectable } from '@nestjs/common';
import {
  ORGANIZATION_SETTINGS,
  type OrganizationRow,
  type OrganizationSettingsRow,
  Tenants,
} from '#tenant-store';
import type { Principal } from '#guards';
import { definedFields } from '#rules';
import { recordAction, type ActionObject } from '../audit/action-records';
import { changesBetween } from '../audit/changes';
import { unprocessable } from '../errors';
import type { Actor } from '../http/actor';
import {
  RANGES,
  type UpdateOrganizationDto,
  type UpdateOrganizationSettingsDto,
} from './dto/organization.dto';
import { refuseLockOut } from './ways-in';

const CHANGED = ['name', 'ssoRequired', 'recoveryAdministratorId'] as const;

@Injectable()
export class OrganizationService {
  constructor(private readonly stores: Tenants) {}

  find({ organizationId }: Principal): Promise<OrganizationRow> {
    return this.stores.organizations.find(this.stores.autocommit, organizationId);
  }

  /** @throws ApiError 400 when no user could be sure to sign in afterwards */
  async update(actor: Actor, dto: UpdateOrganizationDto): Promise<OrganizationRow> {
    const { principal } = actor;
    const { organizationId } = principal;
    const { name, ssoRequired, recoveryAdministratorId } = dto;
    return this.stores.transaction(async (tx) => {
      const before = await this.stores.organizations.findLocked(tx, organizationId);
      await refuseLockOut(this.stores, tx, principal, before, dto);
      const changes = { name, ssoRequired, recoveryAdministratorId };
      const changed = changesBetween(before, { ...before, ...definedFields(changes) }, CHANGED);
      if (Object.keys(changed).length === 0) return before;
      await recordAction(tx, actor, 'ORGANIZATION_UPDATED', objectOf(principal), { changed });
      return this.stores.organizations.update(tx, organizationId, changes);
    });
  }

  settings({ organizationId }: Principal): Promise<OrganizationSettingsRow> {
    return this.stores.organizations.settings(this.stores.autocommit, organizationId);
  }

  /** @throws ApiError 422 when a number is out of its range */
  async updateSettings(actor: Actor, dto: UpdateOrganizationSettingsDto): Promise<OrganizationSettingsRow> {
    const { principal } = actor;
    for (const [name, { from, to, otherwise }] of Object.entries(RANGES)) {
      const given = dto[name as keyof typeof RANGES] ?? from;
      if (given < from || given > to)
        throw unprocessable(`${name} must be ${from} to ${to}, or null ${otherwise}`);
    }
    const { organizationId } = principal;
    return this.stores.transaction(async (tx) => {
      const before = await this.stores.organizations.lockSettings(tx, organizationId);
      const after = await this.stores.organizations.updateSettings(tx, organizationId, dto);
      const changed = changesBetween(before, after, ORGANIZATION_SETTINGS);
      if (Object.keys(changed).length > 0) {
        await recordAction(tx, actor, 'ORGANIZATION_SETTINGS_UPDATE', objectOf(principal), {
          changed,
        });
      }
      return after;
    });
  }
}

const objectOf = ({ organizationId, organizationName }: Principal): ActionObject => ({
  type: 'ORGANIZATION',
  id: organizationId,
  name: organizationName,
});
