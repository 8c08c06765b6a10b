import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Answers } from '../docs/answers';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { MessageDto } from '../http/message.dto';
import { PathId } from '../http/path-id';
import { CreatedUserDto, CreateUserDto, UpdateUserDto, UserDto, UserQueryDto } from './dto/user.dto';
import { NewUsers } from './new-users';
import { ServiceUsers } from './service-users';
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
  @ApiOperation({ summary: "List the organization's users, newest first" })
  @Answers({ 200: [UserDto], errors: [400, 401, 403] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: UserQueryDto,
  ): Promise<ListPage<UserDto>> {
    const { search, roleId, isActive, isService, status: statuses } = query;
    const filter = { search, roleId, isActive, isService, statuses };
    return new ListPage(query, await this.users.list(principal, filter, query));
  }

  @Post()
  @ApiOperation({
    summary: 'Add a user',
    description:
      'Without a password the user is invited by mail to set one; the response contains the same link. With isService it ' +
      'is a user for programs, not counted against the plan’s maximum of users: create API keys for it with POST ' +
      '/api-keys and its userId.',
  })
  @Answers({ 201: CreatedUserDto, errors: [400, 401, 403, 404] })
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateUserDto): Promise<CreatedUserDto> {
    if (dto.isService === true) {
      return { ...(await this.serviceUsers.add(actor, dto)), invitationUrl: null };
    }
    const { user, invitation } = await this.newUsers.add(actor, dto);
    return { ...user, invitationUrl: invitation?.url ?? null };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Get a user' })
  @Answers({ 200: UserDto, errors: [400, 401, 403, 404] })
  find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<UserDto> {
    return this.users.find(principal, id);
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @ApiOperation({
    summary: 'Change a user: name, isOrgAdmin or isActive',
    description: 'Deactivating ends the user’s live sessions, tokens and API keys.',
  })
  @Answers({ 200: UserDto, errors: [400, 401, 403, 404] })
  update(@CurrentActor() actor: Actor, @PathId() id: string, @Body() dto: UpdateUserDto): Promise<UserDto> {
    return this.users.update(actor, id, dto);
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Delete a user',
    description:
      'Removes the user from all roles and ends live sessions, tokens and API keys. The e-mail address can be used again.',
  })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  delete(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.users.delete(actor, id);
  }

  @Post(':id/resend-invitation')
  @ApiOperation({
    summary: 'Resend the invitation of a user without a password',
    description:
      'The earlier link becomes invalid. An e-mail address gets at most three invitations a day, across all organizations.',
  })
  @Answers({ 200: CreatedUserDto, errors: [400, 401, 403, 404] })
  async resendInvitation(@CurrentActor() actor: Actor, @PathId() id: string): Promise<CreatedUserDto> {
    const { user, invitation } = await this.newUsers.resendInvitation(actor, id);
    return { ...user, invitationUrl: invitation?.url ?? null };
  }

  @Post(':id/reset-mfa')
  @AllowedWhileSuspended()
  @ApiOperation({
    summary: 'Reset the MFA of a user who lost the authenticator',
    description:
      'If the organization requires MFA, the user sets it up again at the next login. Your own MFA requires a code: POST /mfa/disable.',
  })
  @Answers({ 200: MessageDto, errors: [400, 401, 403, 404] })
  async resetMfa(@CurrentActor() actor: Actor, @PathId() id: string): Promise<MessageDto> {
    await this.users.resetMfa(actor, id);
    return { message: 'MFA is reset for the user' };
  }
}
