import { ApiProperty } from '@nestjs/swagger';
import { TIERS, type Tier } from '#rules';
import { ORGANIZATION_STATUSES, type OrganizationStatus } from '#tenant-store';
import { AtMost, line, Optional, Required, string, TIME } from '../../http/fields';
import { TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';
import { PageQueryDto } from '../../http/page-query.dto';

export class PlatformOrganizationQueryDto extends PageQueryDto {
  @Optional(string(AtMost(200)), {
    example: 'example',
    description: 'a part of the name, the slug or a user’s e-mail, in any case',
  })
  search?: string;
}

export class ReasonDto {
  @Required(line(1000), { example: 'Invoices unpaid since March', description: 'kept in the audit trail' })
  reason!: string;
}

export class PlatformOrganizationDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'Example Ltd' }) name!: string;
  @ApiProperty({ example: 'example-ltd' }) slug!: string;
  @ApiProperty({ enum: TIERS, example: 'FREE' }) subscriptionTier!: Tier;
  @ApiProperty({
    enum: ORGANIZATION_STATUSES,
    example: 'ACTIVE',
    description: 'TERMINATING: deleted, and a rule or a subscription of it may still be there',
  })
  status!: OrganizationStatus;
  @ApiProperty({ example: false }) suspended!: boolean;
  @ApiProperty(TIME_OR_NULL) suspendedAt!: Date | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: null }) suspendedReason!: string | null;
  @ApiProperty({ type: 'integer', example: 3 }) userCount!: number;
  @ApiProperty({ type: 'integer', example: 5 }) resourceCount!: number;
  @ApiProperty({ type: 'integer', example: 2, description: 'PENDING, ACTIVE or PARTIAL' })
  liveSessionCount!: number;
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty(TIME) updatedAt!: Date;
}
