import { ApiProperty } from '@nestjs/swagger';
import { type Provider } from '#rules';
import { PEOPLE_OF_RESOURCE, RESOURCES_OF_USER, USER_STATUSES, type UserStatus } from '#tenant-store';
import { oneOf, Optional } from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';
import { PROVIDER_NAME } from '../../http/provider-name';

const FORMATS = ['json', 'csv'] as const;
type RightFormat = (typeof FORMATS)[number];
const FORMAT = { default: 'json', description: 'csv: a file of all that the search finds, without pages' };

export class PersonRightQueryDto extends listQueryOf(PEOPLE_OF_RESOURCE) {
  @Optional(oneOf(FORMATS), FORMAT)
  format: RightFormat = 'json';
}

export class ResourceRightQueryDto extends listQueryOf(RESOURCES_OF_USER) {
  @Optional(oneOf(FORMATS), FORMAT)
  format: RightFormat = 'json';
}

class GivingRoleDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'Developers' }) name!: string;
  @ApiProperty({ enum: ['ID', 'LABEL'], description: 'ID: the resource is assigned; LABEL: its labels fit' })
  by!: 'ID' | 'LABEL';
}

class RightDto {
  @ApiProperty({ type: [GivingRoleDto] }) roles!: readonly GivingRoleDto[];
  @ApiProperty({ type: 'integer', example: 8, description: 'Of several roles the most lenient counts' })
  maxSessionDurationHours!: number;
  @ApiProperty({ type: 'integer', example: 0 }) approvalsNeeded!: number;
  @ApiProperty() needsReason!: boolean;
  @ApiProperty() mayBreakGlass!: boolean;
  @ApiProperty({ description: 'Whether a session of the user lets an address in now' }) openNow!: boolean;
}

export class PersonRightDto extends RightDto {
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty({ example: 'Grace Hopper' }) name!: string;
  @ApiProperty({ format: 'email' }) email!: string;
  @ApiProperty({ enum: USER_STATUSES, enumName: 'UserStatus' }) status!: UserStatus;
}

export class ResourceRightDto extends RightDto {
  @ApiProperty({ format: 'uuid' }) resourceId!: string;
  @ApiProperty({ example: 'demo-database' }) name!: string;
  @ApiProperty(PROVIDER_NAME) provider!: Provider;
  @ApiProperty() isActive!: boolean;
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { env: 'prod' } })
  labels!: Readonly<Record<string, string>>;
}
