import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { TIER_LIMITS, type Tier } from '#rules';
import type { RoleMember, RoleRow } from '#tenant-store';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Bulk, rowsOf } from '../audit/bulk';
import { Operation } from '../docs/operation';
import { badRequest, refuseSuspended } from '../errors';
import { CurrentActor, type Actor } from '../http/actor';
import { BulkResultsDto } from '../http/bulk.dto';
import { ListPage } from '../http/list-page';
import { MessageDto } from '../http/message.dto';
import { PathId } from '../http/path-id';
import { CreateRoleDto, RoleDto, RoleQueryDto, UpdateRoleDto } from './dto/role.dto';
import { MAX_MEMBERS, RoleMembersDto } from './dto/role-members.dto';
import { RolesService } from './roles.service';

interface Row extends RoleMember {
  readonly adds: boolean;
}

const rows = (kind: Row['kind'], adds: boolean, ids: readonly string[] | undefined): Row[] =>
  rowsOf(ids).map(({ id }) => ({ kind, id, adds }));

@ApiTags('Roles')
@AdminOnly()
@Controller('roles')
export class RolesController {
  constructor(
    private readonly roles: RolesService,
    private readonly many: Bulk,
  ) {}

  @Post()
  @Operation('Create a role: users, resources and a maximum session duration', {
    201: RoleDto,
    errors: [404],
  })
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateRoleDto): Promise<RoleDto> {
    const { principal } = actor;
    return toRole(await this.roles.create(actor, dto), principal.tier);
  }

  @Get()
  @Operation("List the organization's roles", { 200: [RoleDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: RoleQueryDto,
  ): Promise<ListPage<RoleDto>> {
    return new ListPage(query, await this.roles.list(principal, query)).map((role) =>
      toRole(role, principal.tier),
    );
  }

  @Get(':id')
  @Operation('Get a role', { 200: RoleDto, errors: [404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<RoleDto> {
    return toRole(await this.roles.find(principal, id), principal.tier);
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @Operation('Change a role; applies to new sessions', { 200: RoleDto, errors: [404], dryRun: 'role' })
  async update(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: UpdateRoleDto,
  ): Promise<RoleDto> {
    const { principal } = actor;
    return toRole(await this.roles.update(actor, id, dto), principal.tier);
  }

  @Delete(':id')
  @Operation(
    'Delete a role',
    { 204: null, errors: [404], dryRun: 'role' },
    'Its users and resources are kept; active sessions continue until they end.',
  )
  delete(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.roles.delete(actor, id);
  }

  @Post(':id/members')
  @AllowedWhileSuspended()
  @Operation(
    'Assign and remove many users and resources of a role; applies to new sessions',
    { 200: BulkResultsDto, errors: [404], dryRun: 'role' },
    'At most 1,000 in all. The results are in the order addUserIds, removeUserIds, addResourceIds, removeResourceIds.',
  )
  async members(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: RoleMembersDto,
  ): Promise<BulkResultsDto> {
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

  @Post(':id/resources/:resourceId')
  @Operation('Assign a resource to a role; applies to new sessions', { 200: MessageDto, errors: [404] })
  async assignResource(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @PathId('resourceId') resourceId: string,
  ): Promise<MessageDto> {
    await this.roles.assign(actor, id, { kind: 'resource', id: resourceId });
    return { message: 'The resource is assigned to the role' };
  }

  @Post(':id/users/:userId')
  @Operation('Assign a user to a role; applies to new sessions', { 200: MessageDto, errors: [404] })
  async assignUser(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @PathId('userId') userId: string,
  ): Promise<MessageDto> {
    await this.roles.assign(actor, id, { kind: 'user', id: userId });
    return { message: 'The user is assigned to the role' };
  }

  @Delete(':id/resources/:resourceId')
  @Operation('Remove a resource from a role; active sessions continue until they end', {
    204: null,
    errors: [404],
  })
  async unassignResource(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @PathId('resourceId') resourceId: string,
  ): Promise<void> {
    await this.roles.unassign(actor, id, { kind: 'resource', id: resourceId });
  }

  @Delete(':id/users/:userId')
  @Operation('Remove a user from a role; active sessions continue until they end', {
    204: null,
    errors: [404],
  })
  async unassignUser(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @PathId('userId') userId: string,
  ): Promise<void> {
    await this.roles.unassign(actor, id, { kind: 'user', id: userId });
  }
}

/** A role without its own maximum has that of the current tier. */
const toRole = (row: RoleRow, tier: Tier): RoleDto => ({
  ...row,
  maxSessionDurationHours: row.maxSessionDurationHours ?? TIER_LIMITS[tier].sessionHours,
});
