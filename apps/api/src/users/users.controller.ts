import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { writePageHeaders } from '../http/page-headers';
import { MessageDto } from '../http/message.dto';
import { PathId } from '../http/path-id';
import { CreatedUserDto, CreateUserDto, UpdateUserDto, UserDto, UserQueryDto } from './dto/user.dto';
import { NewUsers } from './new-users';
import { ServiceUsers } from './service-users';
import { toCreatedUser, toUser } from './user.mapper';
import { UsersService } from './users.service';

@ApiTags('Users')
@AdminOnly()
@Controller('users')
export class UsersController {
  constructor(
    private readonly users: UsersService,
    private readonly newUsers: NewUsers,
    private readonly serviceUsers: ServiceUsers,
  ) {}

  @Get()
  @ApiOperation({ summary: "The organization's users, newest first" })
  @Answers({ 200: [UserDto], errors: [400, 401, 403] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: UserQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UserDto[]> {
    const { search, roleId, isActive, isService, status: statuses } = query;
    const filter = { search, roleId, isActive, isService, statuses };
    const { rows, total } = await this.users.list(principal, filter, query);
    writePageHeaders(response, query, total);
    return rows.map(toUser);
  }

  @Post()
  @ApiOperation({
    summary: 'Add a user',
    description:
      'Without a password the user is invited by mail to set one; the answer holds the same link. With isService it is a ' +
      'user for programs, outside the plan’s maximum of users: make API keys for it with POST /api-keys and its userId.',
  })
  @Answers({ 201: CreatedUserDto, errors: [400, 401, 403, 404] })
  async create(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: CreateUserDto,
  ): Promise<CreatedUserDto> {
    if (asked.isService === true) {
      return toCreatedUser(await this.serviceUsers.add(principal, asked, caller), null);
    }
    const { user, invitation } = await this.newUsers.add(principal, asked, caller);
    return toCreatedUser(user, invitation?.url ?? null);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One user' })
  @Answers({ 200: UserDto, errors: [400, 401, 403, 404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<UserDto> {
    return toUser(await this.users.find(principal, id));
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @ApiOperation({
    summary: 'Change a user: name, administrator or not, active or not',
    description: 'Deactivating ends the user’s live sessions, tokens and API keys.',
  })
  @Answers({ 200: UserDto, errors: [400, 401, 403, 404] })
  async update(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @Body() asked: UpdateUserDto,
  ): Promise<UserDto> {
    return toUser(await this.users.update(principal, id, asked, caller));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a user',
    description:
      'The user leaves all roles; live sessions, tokens and API keys end. The e-mail address can be used again.',
  })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  delete(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<void> {
    return this.users.delete(principal, id, caller);
  }

  @Post(':id/resend-invitation')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Invite a user again who has not set a password yet',
    description:
      'The earlier link works no more. At most three invitations go to one e-mail address a day, of all organizations.',
  })
  @Answers({ 200: CreatedUserDto, errors: [400, 401, 403, 404] })
  async resendInvitation(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<CreatedUserDto> {
    const { user, invitation } = await this.newUsers.inviteAgain(principal, id, caller);
    return toCreatedUser(user, invitation?.url ?? null);
  }

  @Post(':id/reset-mfa')
  @AllowedWhileSuspended()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Turn MFA off for a user who lost the authenticator',
    description:
      'If the organization requires MFA, the user sets it up again at the next login. Your own takes a code: POST /mfa/disable.',
  })
  @Answers({ 200: MessageDto, errors: [400, 401, 403, 404] })
  async resetMfa(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<MessageDto> {
    await this.users.resetMfa(principal, id, caller);
    return { message: 'MFA is reset for the user' };
  }
}
