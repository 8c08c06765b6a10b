import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { BulkResultsDto } from '../http/bulk.dto';
import { ListPage } from '../http/list-page';
import { MessageDto } from '../http/message.dto';
import { PathId } from '../http/path-id';
import {
  CreatedUserDto,
  CreateUserDto,
  PasswordLinkDto,
  UpdateUserDto,
  UserDto,
  UserQueryDto,
} from './dto/user.dto';
import { BulkUsers } from './bulk-users';
import { BulkUsersDto } from './dto/bulk-users.dto';
import { type AddedUser, NewUsers } from './new-users';
import { PasswordLinks } from './password-links';
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
    private readonly passwordLinks: PasswordLinks,
    private readonly many: BulkUsers,
  ) {}

  @Get()
  @Operation("List the organization's users", { 200: [UserDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: UserQueryDto,
  ): Promise<ListPage<UserDto>> {
    return new ListPage(query, await this.users.list(principal, query));
  }

  @Post()
  @Operation(
    'Add a user',
    { 201: CreatedUserDto, errors: [404] },
    'Without a password the user is invited by mail to set one; the response contains the same link. With isService it ' +
      'is a user for programs, not counted against the plan’s maximum of users: create API keys for it with POST ' +
      '/api-keys and its userId.',
  )
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateUserDto): Promise<CreatedUserDto> {
    if (dto.isService === true) {
      return { ...(await this.serviceUsers.add(actor, dto)), invitationUrl: null, warnings: [] };
    }
    return createdUser(await this.newUsers.add(actor, dto));
  }

  @Post('bulk')
  @AllowedWhileSuspended()
  @Operation(
    'Invite many users again, activate, deactivate, lock down or delete them',
    { 200: BulkResultsDto, dryRun: 'user' },
    'One such request of a person runs at a time: another one is answered with 429.',
  )
  bulk(@CurrentActor() actor: Actor, @Body() dto: BulkUsersDto): Promise<BulkResultsDto> {
    return this.many.act(actor, dto);
  }

  @Get(':id')
  @Operation('Get a user', { 200: UserDto, errors: [404] })
  find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<UserDto> {
    return this.users.find(principal, id);
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @Operation(
    'Change a user: name, isOrgAdmin or isActive',
    { 200: UserDto, errors: [404], dryRun: 'user' },
    'Deactivating ends the user’s live sessions, tokens and API keys.',
  )
  update(@CurrentActor() actor: Actor, @PathId() id: string, @Body() dto: UpdateUserDto): Promise<UserDto> {
    return this.users.update(actor, id, dto);
  }

  @Delete(':id')
  @Operation(
    'Delete a user',
    { 204: null, errors: [404], dryRun: 'user' },
    'Removes the user from all roles and ends live sessions, tokens and API keys. The e-mail address can be used again.',
  )
  delete(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.users.delete(actor, id);
  }

  @Post(':id/resend-invitation')
  @Operation(
    'Resend the invitation of a user without a password',
    { 200: CreatedUserDto, errors: [404] },
    'The earlier link becomes invalid. An e-mail address gets at most three invitations a day, across all organizations.',
  )
  async resendInvitation(@CurrentActor() actor: Actor, @PathId() id: string): Promise<CreatedUserDto> {
    return createdUser(await this.newUsers.resendInvitation(actor, id));
  }

  @Post(':id/password-link')
  @AllowedWhileSuspended()
  @Operation(
    'Get a link with which a user sets a new password',
    { 200: PasswordLinkDto, errors: [404] },
    'For an administrator to pass on, where no mail is sent or it does not arrive. The link is valid once, for an hour. A ' +
      'deployment with a mail server asks for POST /auth/step-up before (403, `error` "Second factor required"), and tells the ' +
      'user by mail. Sign-ins with the new password do not decide on requests of that administrator.',
  )
  async passwordLink(@CurrentActor() actor: Actor, @PathId() id: string): Promise<PasswordLinkDto> {
    return { passwordResetUrl: await this.passwordLinks.create(actor, id) };
  }

  @Delete(':id/sign-ins')
  @Operation(
    'End every sign-in of a user',
    { 204: null, errors: [404] },
    'Refresh and access tokens are invalid from the next request on. The user may sign in again; live sessions and API keys stay.',
  )
  endSignIns(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.users.endSignIns(actor, id);
  }

  @Post(':id/reset-mfa')
  @AllowedWhileSuspended()
  @Operation(
    'Reset the MFA of a user who lost the authenticator',
    { 200: MessageDto, errors: [404] },
    'If the organization requires MFA, the user sets it up again at the next login. Your own MFA requires a code: POST /mfa/disable.',
  )
  async resetMfa(@CurrentActor() actor: Actor, @PathId() id: string): Promise<MessageDto> {
    await this.users.resetMfa(actor, id);
    return { message: 'MFA is reset for the user' };
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** What an invitation would be for nothing without. */
function createdUser({ user, invitation }: AddedUser): CreatedUserDto {
  const invitationUrl = invitation?.url ?? null;
  return {
    ...user,
    invitationUrl,
    warnings: [
      ...(user.roleNames.length === 0 && !user.isOrgAdmin
        ? ['has no role: there is nothing to open until a role has this user']
        : []),
      ...(invitationUrl !== null && LOOPBACK.test(new URL(invitationUrl).hostname)
        ? [
            'the link leads to this machine only: the operator sets PUBLIC_URL to the address that others reach',
          ]
        : []),
    ],
  };
}
