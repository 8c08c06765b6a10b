import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { writePageHeaders } from '../http/page-headers';
import { PageQueryDto } from '../http/page-query.dto';
import { MessageDto } from '../http/message.dto';
import { PathId } from '../http/path-id';
import { CreateRoleDto, RoleDto, UpdateRoleDto } from './dto/role.dto';
import { toRole } from './role.mapper';
import { RolesService } from './roles.service';

@ApiTags('Roles')
@AdminOnly()
@Controller('roles')
export class RolesController {
  constructor(private readonly roles: RolesService) {}

  @Post()
  @ApiOperation({ summary: 'Group resources and users, with a maximum session duration' })
  @Answers({ 201: RoleDto, errors: [400, 401, 403] })
  async create(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: CreateRoleDto,
  ): Promise<RoleDto> {
    return toRole(await this.roles.create(principal, asked, caller), principal.tier);
  }

  @Get()
  @ApiOperation({ summary: "The organization's roles by name" })
  @Answers({ 200: [RoleDto], errors: [400, 401, 403] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RoleDto[]> {
    const { rows, total } = await this.roles.list(principal, query);
    writePageHeaders(response, query, total);
    return rows.map((role) => toRole(role, principal.tier));
  }

  @Get(':id')
  @ApiOperation({ summary: 'One role' })
  @Answers({ 200: RoleDto, errors: [400, 401, 403, 404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<RoleDto> {
    return toRole(await this.roles.find(principal, id), principal.tier);
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @ApiOperation({ summary: 'Change a role; what it allows counts for new sessions' })
  @Answers({ 200: RoleDto, errors: [400, 401, 403, 404] })
  async update(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @Body() asked: UpdateRoleDto,
  ): Promise<RoleDto> {
    return toRole(await this.roles.update(principal, id, asked, caller), principal.tier);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a role',
    description: 'Its users and resources are kept; active sessions continue until they end.',
  })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  delete(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<void> {
    return this.roles.delete(principal, id, caller);
  }

  @Post(':id/resources/:resourceId')
  @HttpCode(200)
  @ApiOperation({ summary: 'Give the users of the role a resource; counts for new sessions' })
  @Answers({ 200: MessageDto, errors: [400, 401, 403, 404] })
  async assignResource(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @PathId('resourceId') resourceId: string,
  ): Promise<MessageDto> {
    await this.roles.assignResource(principal, id, resourceId, caller);
    return { message: 'The resource is assigned to the role' };
  }

  @Post(':id/users/:userId')
  @HttpCode(200)
  @ApiOperation({ summary: 'Give a user the role; counts for new sessions' })
  @Answers({ 200: MessageDto, errors: [400, 401, 403, 404] })
  async assignUser(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @PathId('userId') userId: string,
  ): Promise<MessageDto> {
    await this.roles.assignUser(principal, id, userId, caller);
    return { message: 'The user is assigned to the role' };
  }

  @Delete(':id/resources/:resourceId')
  @HttpCode(204)
  @ApiOperation({ summary: 'Take a resource out of the role; active sessions continue until they end' })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  unassignResource(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @PathId('resourceId') resourceId: string,
  ): Promise<void> {
    return this.roles.unassignResource(principal, id, resourceId, caller);
  }

  @Delete(':id/users/:userId')
  @HttpCode(204)
  @ApiOperation({ summary: 'Take the role from a user; active sessions continue until they end' })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  unassignUser(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @PathId('userId') userId: string,
  ): Promise<void> {
    return this.roles.unassignUser(principal, id, userId, caller);
  }
}
