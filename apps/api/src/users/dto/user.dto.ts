import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsEmail,
  IsIn,
  IsOptional,
  IsString,
  IsUUID,
  MaxLength,
  ValidateIf,
} from 'class-validator';
import type { PlatformRole } from '#guards';
import { USER_STATUSES, type UserStatus } from '#tenant-store';
import { IsFlagInQuery, IsFlag } from '../../http/flag-fields';
import { mayBeAbsent } from '../../http/absent-fields';
import { PageQueryDto } from '../../http/page-query.dto';
import { IsLine, asId, asEmail, HasOnlyVisibleCharacters } from '../../http/text-fields';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;

export class UserQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ example: 'ada', description: 'a part of the e-mail or the name, in any case' })
  @IsOptional()
  @MaxLength(200, { message: 'must be at most 200 characters' })
  @IsString({ message: 'must be a string' })
  search?: string;

  @ApiPropertyOptional({ format: 'uuid', description: 'only users with this role' })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  roleId?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsFlagInQuery()
  isActive?: boolean;

  @ApiPropertyOptional({ description: 'Only service users (true) or only people (false)' })
  @IsOptional()
  @IsFlagInQuery()
  isService?: boolean;

  @ApiPropertyOptional({ enum: USER_STATUSES, isArray: true, enumName: 'UserStatus' })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? (value as unknown[]) : [value]))
  @IsIn(USER_STATUSES, { each: true, message: `must be one of ${USER_STATUSES.join(', ')}` })
  status?: UserStatus[];
}

export class CreateUserDto {
  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    default: false,
    description:
      'true: a user for programs, with a name, API keys and roles, but no e-mail address, password or sign-in',
  })
  @IsOptional()
  @IsFlag()
  isService?: boolean | null;

  @ApiPropertyOptional({
    example: 'grace@example.com',
    format: 'email',
    description: 'unique in the organization; required unless isService is true',
  })
  @ValidateIf(({ isService }: CreateUserDto) => isService !== true)
  @asEmail()
  @HasOnlyVisibleCharacters()
  @IsEmail({}, { message: 'must be a well-formed e-mail address' })
  email!: string;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'Grace Hopper',
    maxLength: 200,
    description:
      'left out: the local part of the e-mail; required for a service user and unique among service users',
  })
  @IsOptional()
  @IsLine(200)
  name?: string | null;

  @ApiPropertyOptional({ type: Boolean, nullable: true, default: false })
  @IsOptional()
  @IsFlag()
  isOrgAdmin?: boolean | null;

  @ApiPropertyOptional({ type: [String], nullable: true, format: 'uuid', maxItems: 100 })
  @asId()
  @IsOptional()
  @IsUUID(undefined, { each: true, message: 'must hold only UUIDs' })
  @ArrayMaxSize(100, { message: 'must hold at most 100 roles' })
  @IsArray({ message: 'must be an array of UUIDs' })
  roleIds?: string[] | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    format: 'password',
    example: 'correct Horse battery 5taple',
    description: 'must satisfy the organization’s password policy; left out: the user is invited to set one',
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  password?: string | null;
}

export class UpdateUserDto {
  @ApiPropertyOptional({ example: 'Grace Hopper', maxLength: 200 })
  @mayBeAbsent()
  @IsLine(200)
  name?: string;

  @ApiPropertyOptional()
  @mayBeAbsent()
  @IsFlag()
  isOrgAdmin?: boolean;

  @ApiPropertyOptional({ description: 'false ends the user’s live sessions, tokens and API keys' })
  @mayBeAbsent()
  @IsFlag()
  isActive?: boolean;
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
      'INVITED: has no password yet; LOCKED: sign-in is locked temporarily after repeated failures',
  })
  status!: UserStatus;
  @ApiProperty({ type: String, nullable: true, ...TIME, description: 'the newest invitation; null: never' })
  invitedAt!: string | null;
  @ApiProperty({ example: false }) mfaEnabled!: boolean;
  @ApiProperty({ type: String, nullable: true, ...TIME, description: 'null: never' })
  lastLoginAt!: string | null;
  @ApiProperty({ type: [String], example: ['Developers'] }) roleNames!: string[];
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
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
}
