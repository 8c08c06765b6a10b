import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { TIER_LIMITS, type Tier } from '#rules';
import type { RoleRow } from '#tenant-store';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { BulkResultsDto } from '../http/bulk.dto';
import { ListPage } from '../http/list-page';
import { MessageDto } from '../http/message.dto';
import { PathId } from '../http/path-id';
import { CreateRoleDto, RoleDto, RoleQueryDto, UpdateRoleDto } from './dto/role.dto';
import { RoleMembersDto } from './dto/role-members.dto';
import { RoleMembers } from './role-members';
import { RolesService } from './roles.service';

@ApiTags('Roles')
@AdminOnly()
@Controller('roles')
export class RolesController {
  constructor(
    private readonly roles: RolesService,
    private readonly many: RoleMembers,
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
  members(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: RoleMembersDto,
  ): Promise<BulkResultsDto> {
    return this.many.change(actor, id, dto);
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
