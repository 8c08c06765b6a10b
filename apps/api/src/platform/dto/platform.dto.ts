import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { TIERS, type Tier } from '#rules';
import { ORGANIZATION_STATUSES, type OrganizationStatus } from '#tenant-store';
import { PageQueryDto } from '../../http/page-query.dto';
import { IsLine } from '../../http/text-fields';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;

export class PlatformOrganizationQueryDto extends PageQueryDto {
  @ApiPropertyOptional({
    example: 'example',
    description: 'a part of the name, the slug or a user’s e-mail, in any case',
  })
  @IsOptional()
  @MaxLength(200, { message: 'must be at most 200 characters' })
  @IsString({ message: 'must be a string' })
  search?: string;
}

export class ReasonDto {
  @ApiProperty({
    example: 'Invoices unpaid since March',
    maxLength: 1000,
    description: 'kept in the audit trail',
  })
  @IsLine(1000)
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
  @ApiProperty({ type: String, nullable: true, ...TIME }) suspendedAt!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) suspendedReason!: string | null;
  @ApiProperty({ type: 'integer', example: 3 }) userCount!: number;
  @ApiProperty({ type: 'integer', example: 5 }) resourceCount!: number;
  @ApiProperty({ type: 'integer', example: 2, description: 'PENDING, ACTIVE or PARTIAL' })
  liveSessionCount!: number;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}
