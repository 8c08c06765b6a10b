import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { PathId } from '../http/path-id';
import { CreateRoleDto, MessageDto, RoleDto } from './dto/role.dto';
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
  @Answers({ 200: [RoleDto], errors: [401, 403] })
  async list(@CurrentPrincipal() principal: Principal): Promise<RoleDto[]> {
    return (await this.roles.list(principal)).map((role) => toRole(role, principal.tier));
  }

  @Get(':id')
  @ApiOperation({ summary: 'One role' })
  @Answers({ 200: RoleDto, errors: [400, 401, 403, 404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<RoleDto> {
    return toRole(await this.roles.find(principal, id), principal.tier);
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
}
