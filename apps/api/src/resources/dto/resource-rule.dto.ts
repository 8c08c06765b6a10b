import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { TargetRuleHolder } from '#engine-store/port';
import {
  ADDITION_CAUSES,
  REMOVAL_CAUSES,
  WAITS,
  type AdditionCause,
  type RemovalCause,
  type Wait,
} from '#rules';
import { ID_OR_NULL, TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';

/** What was observed last of a rule. */
const PRESENCES = ['PRESENT', 'ABSENT', 'UNKNOWN'] as const;
export type Presence = (typeof PRESENCES)[number];

@ApiSchema({ description: 'Why a rule is there: a session or a static IP rule of the organization' })
export class ResourceRuleHolderDto {
  @ApiProperty({ enum: ['SESSION', 'STATIC_RULE'], example: 'SESSION' }) kind!: TargetRuleHolder['kind'];
  @ApiProperty({ format: 'uuid', description: 'of the session or the static IP rule' }) id!: string;
  @ApiProperty({ format: 'uuid', description: 'another resource of the target, where it has several' })
  resourceId!: string;
  @ApiProperty({ example: 'demo-database' }) resourceName!: string;
  @ApiProperty({ ...ID_OR_NULL, description: "the session's user" }) userId!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'Ada Lovelace' }) userName!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'ada@example.com' }) userEmail!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: null, description: 'of the static IP rule' })
  label!: string | null;
  @ApiProperty({
    enum: ADDITION_CAUSES,
    enumName: 'AdditionCause',
    nullable: true,
    example: 'SESSION_STARTED',
  })
  cause!: AdditionCause | null;
  @ApiProperty({ ...TIME_OR_NULL, description: 'when the session ends; null: a static IP rule' })
  until!: Date | null;
  @ApiProperty({
    ...TIME_OR_NULL,
    example: null,
    description: 'since when it waits for the removal; null: it holds the rule',
  })
  releasedAt!: Date | null;
}

@ApiSchema({ description: 'A rule on the target of a resource, as it is recorded now' })
export class ResourceRuleDto {
  @ApiProperty({ example: '203.0.113.10/32' }) address!: string;
  @ApiProperty({ example: 'tcp' }) protocol!: string;
  @ApiProperty({ example: '5432', description: '* for every port' }) ports!: string;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'sgr-0123456789abcdef0' }) providerRuleId!: string | null;
  @ApiProperty({
    enum: PRESENCES,
    example: 'PRESENT',
    description:
      'What was observed last. ABSENT: it is still to be added. UNKNOWN: a change was sent, and its outcome is not observed yet',
  })
  presence!: Presence;
  @ApiProperty({ description: 'false: it is to be removed, unless it is unmanaged' }) isWanted!: boolean;
  @ApiProperty({ example: false, description: 'true: another program made it; Drawbridge never removes it' })
  isUnmanaged!: boolean;
  @ApiProperty({ ...TIME_OR_NULL, description: 'the first observation of it; null: none yet' })
  presentSince!: Date | null;
  @ApiProperty({
    ...TIME_OR_NULL,
    description: 'the last time the target was read and had it, about every 45 seconds; null: never',
  })
  lastObservedAt!: Date | null;
  @ApiProperty({
    enum: REMOVAL_CAUSES,
    enumName: 'RemovalCause',
    nullable: true,
    example: null,
    description: 'why it is to be removed',
  })
  removalCause!: RemovalCause | null;
  @ApiProperty({ ...TIME_OR_NULL, example: null, description: 'since when it is to be removed' })
  unwantedSince!: Date | null;
  @ApiProperty({ example: false, description: 'true: it should be gone by now, and may still be there' })
  isOverdue!: boolean;
  @ApiProperty({
    example: false,
    description:
      'true: another program removes it again and again, or it has no effect; it is added again at nextAttemptAt',
  })
  isSuspended!: boolean;
  @ApiProperty({ ...TIME_OR_NULL, example: null, description: 'null: there is nothing to do' })
  nextAttemptAt!: Date | null;
  @ApiProperty({
    enum: WAITS,
    nullable: true,
    example: null,
    description:
      'what it waits for; null: there is nothing to do. SLOT: a worker. GAP: the next write to its target, for which changes are gathered. TURN: its cloud account allows no more changes yet. BACK_OFF: the next attempt. SUSPENSION: see isSuspended',
  })
  waitsFor!: Wait | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: null,
    description: 'why the last attempt failed; null, too, for a rule that another organization holds or made',
  })
  lastError!: string | null;
  @ApiProperty({
    example: false,
    description: 'another organization wants it, too, or did until its removal',
  })
  isHeldByOthers!: boolean;
  @ApiProperty({ type: [ResourceRuleHolderDto] }) holders!: ResourceRuleHolderDto[];
}
