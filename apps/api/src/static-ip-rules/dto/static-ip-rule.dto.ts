import { ApiProperty, PartialType, PickType } from '@nestjs/swagger';
import { MAX_RESOURCE_IDS, STATIC_IP_RULE_STATUSES, type StaticIpRuleStatus } from '#rules';
import { ArrayMaxSize, IsArray, IsNotEmpty, IsUUID, MaxLength } from 'class-validator';
import { moment, Optional, Required, string, type Kind } from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';
import { TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';
import { STATIC_IP_RULE_LIST } from '#tenant-store';
import { asId, HasNoHiddenCharacters, trimmed } from '../../http/text-fields';

const ENTRY_STATUSES = ['PENDING', 'APPLIED', 'FAILED'] as const;
/** of a rule that a lockdown has closed */
export const CLOSED = 'CLOSED';
/** of a rule that its end has closed */
export const EXPIRED = 'EXPIRED';
const UUID = '6c5f2a7e-2a43-4b0e-9a53-0d8c2f7f7c11';

const mostCharacters = (maximum: number): PropertyDecorator =>
  MaxLength(maximum, { message: `must have at most ${maximum} characters` });

const LABEL = string(
  HasNoHiddenCharacters(),
  IsNotEmpty({ message: 'must not be blank' }),
  mostCharacters(200),
  trimmed(),
);

const RESOURCE_IDS: Kind = {
  checks: [
    IsArray({ message: 'must be an array of UUIDs' }),
    IsUUID(undefined, { each: true, message: 'must hold UUIDs' }),
    ArrayMaxSize(MAX_RESOURCE_IDS, { message: `must hold at most ${MAX_RESOURCE_IDS} ids` }),
    asId(),
  ],
  doc: { type: [String], format: 'uuid', maxItems: MAX_RESOURCE_IDS, example: [UUID] },
};

export class StaticIpRuleQueryDto extends listQueryOf(STATIC_IP_RULE_LIST) {}

export class CreateStaticIpRuleDto {
  @Required(LABEL, { example: 'Office Berlin', maxLength: 200 })
  label!: string;

  @Required(string(mostCharacters(100)), {
    example: '198.51.100.0/24',
    description: 'an IPv4 or IPv6 address, or a CIDR range; anything else is refused with 422',
  })
  ipAddress!: string;

  @Required(RESOURCE_IDS, {
    description: 'the resources to allow it on; an empty list is refused with 422',
  })
  resourceIds!: string[];

  @Optional(moment(), {
    nullable: true,
    description:
      'When it ends: 5 minutes to 5 years ahead. null: it has no end. A later one opens an EXPIRED rule again',
  })
  expiresAt?: string | null;

  @Optional(moment(), {
    nullable: true,
    description: 'When it is to be reviewed. null: as staticRuleReviewDays says; see GET /reviews',
  })
  reviewBy?: string | null;
}

export class UpdateStaticIpRuleDto extends PartialType(
  PickType(CreateStaticIpRuleDto, ['label', 'resourceIds', 'expiresAt', 'reviewBy']),
  { skipNullProperties: false },
) {}

export class StaticIpRuleEntryDto {
  @ApiProperty({ format: 'uuid', example: UUID }) resourceId!: string;
  @ApiProperty({ example: 'demo-database' }) resourceName!: string;
  @ApiProperty({ enum: ENTRY_STATUSES, example: 'APPLIED' }) status!: (typeof ENTRY_STATUSES)[number];
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-01-05T09:30:02.000Z' })
  appliedAt!: Date | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: null,
    description:
      'the provider’s error message when FAILED; listing the resource again retries it. Why it still waits when PENDING or REMOVING',
  })
  errorMessage!: string | null;
}

class ClosedEntryDto extends PickType(StaticIpRuleEntryDto, ['resourceId', 'resourceName']) {}

export class StaticIpRuleDto {
  @ApiProperty({ format: 'uuid', example: '0f0e6b9c-4a3c-4a37-9d5e-6a0d6a3c9b10' }) id!: string;
  @ApiProperty({ example: 'Office Berlin' }) label!: string;
  @ApiProperty({ example: '198.51.100.0/24', description: 'canonical: host bits cleared' })
  ipAddress!: string;
  @ApiProperty({
    enum: [...STATIC_IP_RULE_STATUSES, CLOSED, EXPIRED],
    example: 'ACTIVE',
    description:
      'PENDING while an entry is PENDING; then ACTIVE, PARTIAL or FAILED: all, some or none applied. CLOSED by a lockdown, until it is lifted. EXPIRED: closed at its end, until it is extended; it is deleted after 90 days',
  })
  status!: StaticIpRuleStatus | typeof CLOSED | typeof EXPIRED;
  @ApiProperty({ example: 'ada@example.com' }) createdByEmail!: string;
  @ApiProperty({ format: 'date-time', example: '2026-01-05T09:30:00.000Z' }) createdAt!: Date;
  @ApiProperty({ ...TIME_OR_NULL, description: 'null: it has no end' }) expiresAt!: Date | null;
  @ApiProperty({ ...TIME_OR_NULL, description: 'when it is to be reviewed, apart from staticRuleReviewDays' })
  reviewBy!: Date | null;
  @ApiProperty({ ...TIME_OR_NULL, description: 'when it was confirmed last' }) reviewedAt!: Date | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: null }) reviewedByEmail!: string | null;
  @ApiProperty({ type: [StaticIpRuleEntryDto] }) resources!: StaticIpRuleEntryDto[];
  @ApiProperty({
    type: [ClosedEntryDto],
    description:
      'of a CLOSED or EXPIRED rule: where it opens again, when the lockdown is lifted or it is extended',
  })
  closedOn!: ClosedEntryDto[];
}
