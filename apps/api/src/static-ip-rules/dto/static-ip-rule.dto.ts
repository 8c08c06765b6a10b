import { ApiProperty, PartialType, PickType } from '@nestjs/swagger';
import { MAX_RESOURCE_IDS, STATIC_IP_RULE_STATUSES, type StaticIpRuleStatus } from '#rules';
import { ArrayMaxSize, IsArray, IsNotEmpty, IsString, IsUUID, MaxLength } from 'class-validator';
import { asId, HasNoHiddenCharacters, trimmed } from '../../http/text-fields';

const ENTRY_STATUSES = ['PENDING', 'APPLIED', 'FAILED'] as const;
const UUID = '6c5f2a7e-2a43-4b0e-9a53-0d8c2f7f7c11';

export class CreateStaticIpRuleDto {
  @ApiProperty({ example: 'Office Berlin', maxLength: 200 })
  @trimmed()
  @MaxLength(200, { message: 'must have at most 200 characters' })
  @IsNotEmpty({ message: 'must not be blank' })
  @HasNoHiddenCharacters()
  @IsString({ message: 'must be a string' })
  label!: string;

  @ApiProperty({
    example: '198.51.100.0/24',
    description: 'an IPv4 or IPv6 address, or a CIDR range; anything else is refused with 422',
  })
  @MaxLength(100, { message: 'must have at most 100 characters' })
  @IsString({ message: 'must be a string' })
  ipAddress!: string;

  @ApiProperty({
    type: [String],
    format: 'uuid',
    maxItems: MAX_RESOURCE_IDS,
    example: [UUID],
    description: 'the resources to allow it on; an empty list is refused with 422',
  })
  @asId()
  @ArrayMaxSize(MAX_RESOURCE_IDS, { message: `must hold at most ${MAX_RESOURCE_IDS} ids` })
  @IsUUID(undefined, { each: true, message: 'must hold UUIDs' })
  @IsArray({ message: 'must be an array of UUIDs' })
  resourceIds!: string[];
}

export class UpdateStaticIpRuleDto extends PartialType(
  PickType(CreateStaticIpRuleDto, ['label', 'resourceIds']),
  { skipNullProperties: false },
) {}

export class StaticIpRuleEntryDto {
  @ApiProperty({ format: 'uuid', example: UUID }) resourceId!: string;
  @ApiProperty({ example: 'demo-database' }) resourceName!: string;
  @ApiProperty({ enum: ENTRY_STATUSES, example: 'APPLIED' }) status!: (typeof ENTRY_STATUSES)[number];
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-01-05T09:30:02.000Z' })
  appliedAt!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description:
      'the provider’s error message when FAILED; listing the resource again retries it. Why it still waits when PENDING or REMOVING',
  })
  errorMessage!: string | null;
}

export class StaticIpRuleDto {
  @ApiProperty({ format: 'uuid', example: '0f0e6b9c-4a3c-4a37-9d5e-6a0d6a3c9b10' }) id!: string;
  @ApiProperty({ example: 'Office Berlin' }) label!: string;
  @ApiProperty({ example: '198.51.100.0/24', description: 'canonical: host bits cleared' })
  ipAddress!: string;
  @ApiProperty({
    enum: STATIC_IP_RULE_STATUSES,
    example: 'ACTIVE',
    description:
      'PENDING while an entry is PENDING; then ACTIVE, PARTIAL or FAILED: all, some or none applied',
  })
  status!: StaticIpRuleStatus;
  @ApiProperty({ example: 'ada@example.com' }) createdByEmail!: string;
  @ApiProperty({ format: 'date-time', example: '2026-01-05T09:30:00.000Z' }) createdAt!: string;
  @ApiProperty({ type: [StaticIpRuleEntryDto] }) resources!: StaticIpRuleEntryDto[];
}
