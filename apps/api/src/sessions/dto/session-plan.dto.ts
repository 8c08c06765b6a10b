import { ApiProperty } from '@nestjs/swagger';
import { TIME } from '../../http/fields';
import { PlanRefusalDto } from '../../http/plan-refusal';
import { RoomDto } from '../../http/room.dto';
import { InactiveResourcesDto } from './session.dto';

const PLAN_OUTCOMES = ['OPENS', 'SHARED', 'ALREADY_OPEN', 'FULL', 'MAY_BE_FULL'] as const;
type PlanOutcome = (typeof PLAN_OUTCOMES)[number];

export class ClosedRuleDto {
  @ApiProperty({ example: 'demo-database' }) resourceName!: string;
  @ApiProperty({ example: '203.0.113.10/32' }) address!: string;
  @ApiProperty({ example: 'tcp' }) protocol!: string;
  @ApiProperty({ example: '5432', description: 'Ports and ranges; *: every one' }) ports!: string;
}

export class PlannedRuleDto {
  @ApiProperty({ example: '203.0.113.10/32' }) address!: string;
  @ApiProperty({ example: 'tcp' }) protocol!: string;
  @ApiProperty({ example: '5432', description: 'Ports and ranges; *: every one' }) ports!: string;
  @ApiProperty({
    enum: PLAN_OUTCOMES,
    description:
      'SHARED: another session or static IP rule of the organization holds it, so it stays when this one ends; ' +
      'ALREADY_OPEN: a rule that is not managed lets the traffic in; FULL: the target has no room for it; MAY_BE_FULL: it has ' +
      'none, unless the usual limit was raised for the account',
  })
  outcome!: PlanOutcome;
  @ApiProperty({ type: String, nullable: true, description: 'With ALREADY_OPEN: the rule that does' })
  by!: string | null;
}

export class PlannedRoomDto extends RoomDto {
  @ApiProperty({ type: 'integer', example: 53, description: 'Rules that it would have' }) after!: number;
}

/** Of accounts that are not known, nothing. */
const WAIT = {
  type: 'integer',
  nullable: true,
  example: 0,
  description:
    'About how long the rules would wait for the changes of their cloud accounts that are before them; 0: less than three ' +
    'seconds; null: not known, or no resource of the organization has proven write access to the target',
} as const;

export class PlannedResourceDto {
  @ApiProperty({ format: 'uuid' }) resourceId!: string;
  @ApiProperty({ example: 'demo-database' }) resourceName!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: '123456789012',
    description: 'Of the cloud, where it is known',
  })
  account!: string | null;
  @ApiProperty({ type: [PlannedRuleDto] }) rules!: PlannedRuleDto[];
  @ApiProperty({
    type: PlannedRoomDto,
    nullable: true,
    description:
      'Where the least is left; null: no limit is known, or no resource of the organization has proven write access to the target',
  })
  room!: PlannedRoomDto | null;
  @ApiProperty(WAIT) waitSeconds!: number | null;
}

const UNKNOWN = 'null: refused before it was known';

export class SessionPlanDto {
  @ApiProperty({ enum: [true], description: 'Nothing was started' }) dryRun!: true;
  @ApiProperty({
    type: PlanRefusalDto,
    nullable: true,
    description: 'What POST /sessions would answer now; null: it would start the session',
  })
  refusal!: PlanRefusalDto | null;
  @ApiProperty({ type: String, nullable: true, example: '203.0.113.10' }) ipv4Address!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) ipv6Address!: string | null;
  @ApiProperty({ type: 'number', nullable: true, example: 2, description: UNKNOWN })
  durationHours!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, example: 8, description: UNKNOWN })
  maxDurationHours!: number | null;
  @ApiProperty({ nullable: true, ...TIME, description: UNKNOWN }) expiresAt!: Date | null;
  @ApiProperty({ type: 'integer', example: 0 }) approvalsNeeded!: number;
  @ApiProperty({
    type: [String],
    example: ['Leads'],
    description: 'Roles whose members approve; empty: administrators',
  })
  deciders!: string[];
  @ApiProperty({ description: 'Whether all of your roles on one of the resources ask for a reason' })
  reasonNeeded!: boolean;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'An approved one that it would use',
  })
  usesAccessRequestId!: string | null;
  @ApiProperty({ type: [PlannedResourceDto] }) resources!: PlannedResourceDto[];
  @ApiProperty({
    type: InactiveResourcesDto,
    nullable: true,
    description: 'Left out of a session that names no resources: they are not verified, or no longer',
  })
  inactiveResources!: InactiveResourcesDto | null;
  @ApiProperty({ ...WAIT, description: 'The longest of the resources’ waits; null: none is known' })
  waitSeconds!: number | null;
  @ApiProperty({
    type: [ClosedRuleDto],
    description: 'With replaces: rules that no other session or static IP rule of the organization holds',
  })
  closes!: ClosedRuleDto[];
  @ApiProperty(TIME) asOf!: Date;
}
