import { ApiProperty } from '@nestjs/swagger';
import { Allow, ValidateIf } from 'class-validator';
import type { PlatformRole } from '#guards';
import { USER_LIST, USER_STATUSES, type UserStatus } from '#tenant-store';
import {
  email,
  flag,
  ids,
  line,
  MayBeAbsent,
  Misplaced,
  Optional,
  Required,
  string,
  TIME,
} from '../../http/fields';
import { LockdownDto } from '../../lockdown/dto/lockdown.dto';
import { listQueryOf } from '../../http/list-query.dto';

export class UserQueryDto extends listQueryOf(USER_LIST) {}

const USE_IDS = 'cannot be given: use roleIds';

export class CreateUserDto {
  @Optional(flag(), {
    nullable: true,
    default: false,
    description:
      'true: a user for programs, with a name, API keys and roles, but no e-mail address, password or sign-in',
  })
  isService?: boolean | null;

  @ValidateIf(({ isService }: CreateUserDto) => isService !== true)
  @Required(email(), {
    required: false,
    example: 'grace@example.com',
    description: 'unique in the organization; required unless isService is true',
  })
  email!: string;

  @Optional(line(200), {
    nullable: true,
    example: 'Grace Hopper',
    description:
      'left out: the local part of the e-mail; required for a service user and unique among service users',
  })
  name?: string | null;

  @Optional(flag(), { nullable: true, default: false })
  isOrgAdmin?: boolean | null;

  @Optional(ids(100, 'roles'), { nullable: true })
  roleIds?: string[] | null;

  @Optional(string(), {
    nullable: true,
    format: 'password',
    example: 'correct Horse battery 5taple',
    description: 'must satisfy the organization’s password policy; left out: the user is invited to set one',
  })
  password?: string | null;

  @Misplaced(USE_IDS)
  roles?: unknown;

  @Misplaced(USE_IDS)
  roleNames?: unknown;
}

export const IN_ROLES = 'cannot be changed here: use PATCH /roles/{id} with userIds';

export class UpdateUserDto {
  @MayBeAbsent(line(200), { example: 'Grace Hopper' })
  name?: string;

  @MayBeAbsent(flag())
  isOrgAdmin?: boolean;

  @MayBeAbsent(flag(), { description: 'false ends the user’s live sessions, tokens and API keys' })
  isActive?: boolean;

  @Misplaced(IN_ROLES)
  roles?: unknown;

  @Misplaced(IN_ROLES)
  roleIds?: unknown;

  /** An answer shows them: sent back as they are, they change nothing. */
  @Allow()
  roleNames?: unknown;
}

export class UserDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'email', example: 'grace@example.com' }) email!: string;
  @ApiProperty({ example: 'Grace Hopper' }) name!: string;
  @ApiProperty({ example: false, description: 'a user for programs: it never signs in and gets no mail' })
  isService!: boolean;
  @ApiProperty({ example: false }) isOrgAdmin!: boolean;
  @ApiProperty({ enum: ['CUSTOMER', 'SUPPORT', 'SUPER_ADMIN'], example: 'CUSTOMER' })
  platformRole!: PlatformRole;
  @ApiProperty({ example: true }) isActive!: boolean;
  @ApiProperty({
    enum: USER_STATUSES,
    enumName: 'UserStatus',
    example: 'ACTIVE',
    description:
      'INVITED: has neither a password nor a company sign-in yet; LOCKED: sign-in is locked temporarily after repeated failures',
  })
  status!: UserStatus;
  @ApiProperty({ type: LockdownDto, nullable: true, description: 'of the user alone' })
  lockdown!: LockdownDto | null;
  @ApiProperty({ nullable: true, ...TIME, description: 'the newest invitation; null: never' })
  invitedAt!: Date | null;
  @ApiProperty({ example: false }) mfaEnabled!: boolean;
  @ApiProperty({ nullable: true, ...TIME, description: 'null: never' })
  lastLoginAt!: Date | null;
  @ApiProperty({ type: [String], example: ['Developers'] }) roleNames!: string[];
  @ApiProperty({ type: [String], example: ['Okta'], description: 'those that the user signs in by' })
  identityProviders!: string[];
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty(TIME) updatedAt!: Date;
}

export class CreatedUserDto extends UserDto {
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'https://drawbridge.example.com/accept-invitation/pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ',
    description:
      'Ends with the token for POST /auth/set-password, valid for 7 days; null when a password was given, and for a service user',
  })
  invitationUrl!: string | null;
  @ApiProperty({
    type: [String],
    example: [],
    description: 'why the invitation may be for nothing: no role, a link to this machine; empty: nothing',
  })
  warnings!: string[];
}

export class PasswordLinkDto {
  @ApiProperty({
    example: 'https://drawbridge.example.com/reset-password/pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ',
    description: 'Ends with the token for POST /auth/reset-password, valid for an hour',
  })
  passwordResetUrl!: string;
}
