import { Injectable } from '@nestjs/common';
import type { RoleMember } from '#tenant-store';
import { Bulk, rowsOf } from '../audit/bulk';
import { badRequest, refuseSuspended } from '../errors';
import type { Actor } from '../http/actor';
import type { BulkResultsDto } from '../http/bulk.dto';
import { MAX_MEMBERS, type RoleMembersDto } from './dto/role-members.dto';
import { RolesService } from './roles.service';

interface Row extends RoleMember {
  readonly adds: boolean;
}

const rows = (kind: Row['kind'], adds: boolean, ids: readonly string[] | undefined): Row[] =>
  rowsOf(ids).map(({ id }) => ({ kind, id, adds }));

/** Many changes of whom and what a role connects. */
@Injectable()
export class RoleMembers {
  constructor(
    private readonly many: Bulk,
    private readonly roles: RolesService,
  ) {}

  /** @throws ApiError 404 when there is no such role, 400 for none or too many */
  async change(actor: Actor, id: string, dto: RoleMembersDto): Promise<BulkResultsDto> {
    const asked = [
      ...rows('user', true, dto.addUserIds),
      ...rows('user', false, dto.removeUserIds),
      ...rows('resource', true, dto.addResourceIds),
      ...rows('resource', false, dto.removeResourceIds),
    ];
    if (asked.length === 0)
      throw badRequest(
        'Name a user or a resource: addUserIds, removeUserIds, addResourceIds or removeResourceIds',
      );
    if (asked.length > MAX_MEMBERS) throw badRequest(`At most ${MAX_MEMBERS} users and resources in all`);
    await this.roles.find(actor.principal, id);
    const action = { eventType: 'ROLE_UPDATED', resourceType: 'ROLE' } as const;
    return this.many.alone(actor, action, asked, async ({ adds, ...other }) => {
      if (adds) refuseSuspended(actor.principal);
      const isChanged = adds
        ? await this.roles.assign(actor, id, other, true)
        : await this.roles.unassign(actor, id, other, true);
      return isChanged ? 'DONE' : 'UNCHANGED';
    });
  }
}
