import { ApiProperty } from '@nestjs/swagger';
import {
  flag,
  ids,
  integerIn,
  line,
  MayBeAbsent,
  NullAsAbsent,
  Optional,
  queryFlag,
  Required,
  text,
  TIME,
} from '../../http/fields';
import { SELECTOR } from '../../resources/labels';
import { listQueryOf } from '../../http/list-query.dto';
import { TEXT_OR_NULL } from '../../http/nullable';
import { ROLE_LIST } from '#tenant-store';

const HOURS = integerIn(1, 24, 'must be a whole number from 1 to 24');

const APPROVALS = integerIn(0, 2, 'must be a whole number from 0 to 2');
const PREFIX = integerIn(64, 128, 'must be a whole number from 64 to 128');

const PATTERN_DESCRIPTION =
  'What a required reason looks like, in which * stands for any characters; null: any reason will do';
const APPROVALS_DESCRIPTION =
  'Approvals by others that a session needs before it starts: see POST /access-requests';
const APPROVERS_DESCRIPTION =
  'The roles whose members approve; empty: administrators. When the last of them is deleted, administrators do';
const GLASS_DESCRIPTION =
  'Whether a session may be started without the approvals, with breakGlass, for an hour at most';
const PREFIX_DESCRIPTION =
  'The range that is opened around an IPv6 address, as its prefix: privacy addresses change within it';

const SELECTOR_DESCRIPTION =
  'Labels: the role also reaches each resource that has, of each key, one of the values. null: only resourceIds';

/** What a role asks of those who start sessions, who and what it connects. */
class RoleFieldsDto {
  @NullAsAbsent(flag(), { default: false, description: 'Whether a session needs a reason' })
  requireReason?: boolean;

  @Optional(line(200), { nullable: true, example: 'INC-*', description: PATTERN_DESCRIPTION })
  reasonPattern?: string | null;

  @NullAsAbsent(APPROVALS, { default: 0, description: APPROVALS_DESCRIPTION })
  approvals?: number;

  @NullAsAbsent(ids(20, 'roles'), { description: APPROVERS_DESCRIPTION })
  approverRoleIds?: string[];

  @NullAsAbsent(flag(), { default: false, description: GLASS_DESCRIPTION })
  mayBreakGlass?: boolean;

  @NullAsAbsent(PREFIX, { default: 128, description: PREFIX_DESCRIPTION })
  ipv6PrefixLength?: number;

  @Optional(SELECTOR, { nullable: true, description: SELECTOR_DESCRIPTION })
  resourceSelector?: Record<string, string[]> | null;

  @NullAsAbsent(ids(1000, 'resources'), { description: 'The resources of the role: all of them' })
  resourceIds?: string[];

  @NullAsAbsent(ids(1000, 'users'), { description: 'The users of the role: all of them' })
  userIds?: string[];
}

export class RoleQueryDto extends listQueryOf(ROLE_LIST) {
  @Optional(queryFlag(), {
    description: 'false: resourceIds and userIds are empty, whatever they are',
    default: true,
  })
  withMembers?: boolean;
}

export class CreateRoleDto extends RoleFieldsDto {
  @Required(line(100), { example: 'Developers', description: 'unique in the organization' })
  name!: string;

  @Optional(text(1000), { example: 'May reach the development databases' })
  description?: string | null;

  @Optional(HOURS, {
    description: 'Left out: the current maximum of the plan, which counts where it is less, too',
  })
  maxSessionDurationHours?: number | null;
}

export class UpdateRoleDto extends RoleFieldsDto {
  @MayBeAbsent(line(100), { example: 'Developers' })
  name?: string;

  @Optional(text(1000), { nullable: true, description: 'null: none' })
  description?: string | null;

  @Optional(HOURS, {
    nullable: true,
    description: 'null: the current maximum of the plan, which counts where it is less, too',
  })
  maxSessionDurationHours?: number | null;
}

export class RoleDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'Developers' }) name!: string;
  @ApiProperty(TEXT_OR_NULL) description!: string | null;
  @ApiProperty({ type: 'integer', example: 8, description: "The role's maximum, otherwise the plan's" })
  maxSessionDurationHours!: number;
  @ApiProperty({ description: 'Whether a session needs a reason' }) requireReason!: boolean;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'INC-*', description: PATTERN_DESCRIPTION })
  reasonPattern!: string | null;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 2, description: APPROVALS_DESCRIPTION })
  approvals!: number;
  @ApiProperty({ type: [String], format: 'uuid', description: APPROVERS_DESCRIPTION })
  approverRoleIds!: string[];
  @ApiProperty({ description: GLASS_DESCRIPTION }) mayBreakGlass!: boolean;
  @ApiProperty({ type: 'integer', minimum: 64, maximum: 128, example: 128, description: PREFIX_DESCRIPTION })
  ipv6PrefixLength!: number;
  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: { type: 'array', items: { type: 'string' } },
    description: SELECTOR_DESCRIPTION,
  })
  resourceSelector!: Record<string, string[]> | null;
  @ApiProperty({ type: [String], format: 'uuid', description: 'Those that are assigned by their ids' })
  resourceIds!: string[];
  @ApiProperty({ type: [String], format: 'uuid' }) userIds!: string[];
  @ApiProperty({ type: 'integer', example: 37, description: 'By id and by label' }) resourceCount!: number;
  @ApiProperty({ type: 'integer', example: 12 }) userCount!: number;
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty(TIME) updatedAt!: Date;
}
