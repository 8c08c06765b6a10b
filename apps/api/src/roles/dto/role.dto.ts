import { ApiProperty } from '@nestjs/swagger';
import {
  ids,
  integerIn,
  line,
  MayBeAbsent,
  NullAsAbsent,
  Optional,
  Required,
  text,
  TIME,
} from '../../http/fields';

const HOURS = integerIn(1, 24, 'must be a whole number from 1 to 24');

/** Who and what a role connects. */
class RoleMembersDto {
  @NullAsAbsent(ids(100, 'resources'), { description: 'The resources of the role: all of them' })
  resourceIds?: string[];

  @NullAsAbsent(ids(100, 'users'), { description: 'The users of the role: all of them' })
  userIds?: string[];
}

export class CreateRoleDto extends RoleMembersDto {
  @Required(line(100), { example: 'Developers', description: 'unique in the organization' })
  name!: string;

  @Optional(text(1000), { example: 'May reach the development databases' })
  description?: string | null;

  @Optional(HOURS, {
    description: 'Left out: the current maximum of the plan, which counts where it is less, too',
  })
  maxSessionDurationHours?: number | null;
}

export class UpdateRoleDto extends RoleMembersDto {
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
  @ApiProperty({ type: String, nullable: true }) description!: string | null;
  @ApiProperty({ type: 'integer', example: 8, description: "The role's maximum, otherwise the plan's" })
  maxSessionDurationHours!: number;
  @ApiProperty({ type: [String], format: 'uuid' }) resourceIds!: string[];
  @ApiProperty({ type: [String], format: 'uuid' }) userIds!: string[];
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty(TIME) updatedAt!: Date;
}
