import { ApiProperty } from '@nestjs/swagger';
import { ArrayNotEmpty } from 'class-validator';
import { MEMBERSHIP_REVIEWS, REVIEW_KINDS, type ReviewKind } from '#tenant-store';
import { id, line, listOf, NullAsAbsent, oneOf, Optional, Required } from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';
import { ID_OR_NULL, TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';

const DECISIONS = ['CONFIRM', 'REMOVE'] as const;

export class ReviewQueryDto extends listQueryOf(MEMBERSHIP_REVIEWS) {
  @NullAsAbsent(oneOf(REVIEW_KINDS, 'ReviewKind'), {
    default: 'MEMBERSHIP',
    description: 'MEMBERSHIP: that users have roles; STATIC_RULE: static IP rules',
  })
  kind: ReviewKind = 'MEMBERSHIP';
}

export class ReviewDto {
  @ApiProperty({ enum: REVIEW_KINDS, enumName: 'ReviewKind' }) kind!: ReviewKind;
  @ApiProperty({ format: 'uuid', description: 'of the membership, or of the static IP rule' }) id!: string;
  @ApiProperty(ID_OR_NULL) roleId!: string | null;
  @ApiProperty(ID_OR_NULL) userId!: string | null;
  @ApiProperty({ example: 'on-call', description: 'of the role, or the label of the rule' }) name!: string;
  @ApiProperty({ example: 'ada@example.com', description: 'of the user, or of who created the rule' })
  email!: string;
  @ApiProperty({ type: 'integer', example: 37, description: 'how many it reaches' }) resources!: number;
  @ApiProperty({
    ...TIME_OR_NULL,
    description: 'the user’s last recent session on one of them; null: none, or a static IP rule',
  })
  lastUsedAt!: Date | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: null,
    description: 'the identity provider that gives the role and takes it away: it is never due',
  })
  givenBy!: string | null;
  @ApiProperty(TIME_OR_NULL) reviewedAt!: Date | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: null }) reviewedByEmail!: string | null;
  @ApiProperty({ ...TIME_OR_NULL, description: 'null: never, see the settings of the organization' })
  dueAt!: Date | null;
}

export class ReviewDecisionDto {
  @Required(oneOf(REVIEW_KINDS, 'ReviewKind')) kind!: ReviewKind;
  @Required(id(), { description: 'as GET /reviews lists it' }) id!: string;
  @Required(oneOf(DECISIONS), {
    description: 'REMOVE: the user loses the role, or the rule is deleted',
  })
  decision!: (typeof DECISIONS)[number];
  @Optional(line(500), { nullable: true, example: 'Still on call until March', description: 'is recorded' })
  note?: string | null;
}

export class ReviewDecisionsDto {
  @ArrayNotEmpty({ message: 'must have at least one decision' })
  @Required(listOf(ReviewDecisionDto, 100, 'decisions'))
  decisions!: ReviewDecisionDto[];
}
