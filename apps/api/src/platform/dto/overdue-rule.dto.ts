import { ApiProperty } from '@nestjs/swagger';
import { REMOVAL_CAUSES, type Provider, type RemovalCause } from '#rules';
import { ID_OR_NULL, TEXT_OR_NULL } from '../../http/nullable';
import { PROVIDER_NAME } from '../../http/provider-name';

export class OverdueRuleOrganizationDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'example-ltd' }) slug!: string;
}

export class OverdueRuleDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({
    type: [OverdueRuleOrganizationDto],
    description: 'those that held it; if none is known, those with a resource on its target',
  })
  organizations!: readonly OverdueRuleOrganizationDto[];
  @ApiProperty(PROVIDER_NAME) provider!: Provider;
  @ApiProperty({ example: 'SECURITY_GROUP' }) resourceType!: string;
  @ApiProperty({ example: 'sg-0123456789abcdef0', description: 'of the target' }) identifier!: string;
  @ApiProperty({ example: '203.0.113.10/32' }) address!: string;
  @ApiProperty({ example: 'tcp' }) protocol!: string;
  @ApiProperty({ example: '5432', description: '* for every port' }) ports!: string;
  @ApiProperty({ ...ID_OR_NULL, description: 'with which it is removed' }) credentialId!: string | null;
  @ApiProperty({
    enum: REMOVAL_CAUSES,
    enumName: 'RemovalCause',
    nullable: true,
    example: 'SESSION_STOPPED',
    description: 'why it has to be removed',
  })
  cause!: RemovalCause | null;
  @ApiProperty({ format: 'date-time', description: 'since when it has to be removed' })
  unwantedSince!: Date;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'AWS refused it: UnauthorizedOperation' })
  lastError!: string | null;
}
