import { ApiProperty } from '@nestjs/swagger';
import {
  ACCESS_DECISIONS,
  ACCESS_REQUEST_STATUSES,
  type AccessDecision,
  type AccessRequestStatus,
} from '#entities';
import { ACCESS_REQUEST_VIEWS, type AccessRequestView } from '#tenant-store';
import {
  anyOf,
  id,
  inQuery,
  moment,
  NullAsAbsent,
  oneOf,
  Optional,
  Required,
  text,
  TIME,
  wholeNumber,
} from '../../http/fields';
import { ID_OR_NULL, TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';
import { PageQueryDto } from '../../http/page-query.dto';
import { REASON, WantedAccessDto } from '../../sessions/dto/start-session.dto';

/** As POST /sessions takes it. */
export class CreateAccessRequestDto extends WantedAccessDto {
  @Required(REASON, { example: 'INC-12: the disk is full' })
  reason!: string;
}

export class AccessRequestQueryDto extends PageQueryDto {
  @Optional(oneOf(ACCESS_REQUEST_VIEWS, 'AccessRequestView'), {
    default: 'mine',
    description:
      'mine: your own. decide: those that you may approve or deny now. all: the organization’s, for administrators. review: ' +
      'sessions started with breakGlass that are not reviewed yet, for administrators',
  })
  view: AccessRequestView = 'mine';

  @Optional(id())
  userId?: string;

  @Optional(id())
  resourceId?: string;

  @Optional(anyOf(ACCESS_REQUEST_STATUSES, 'AccessRequestStatus'))
  status?: AccessRequestStatus[];

  @Optional(moment(), { description: 'Not before' })
  from?: string;

  @Optional(moment(), { description: 'Not after' })
  to?: string;
}

export class AccessRequestWaitDto {
  @Optional(inQuery(wholeNumber(1, 30, 'of seconds')), {
    description: 'Wait up to this many seconds until the request is no longer WAITING',
  })
  waitSeconds?: number;
}

export class DecideDto {
  @NullAsAbsent(text(500), { example: 'Until the disk is larger', description: 'Shown with the decision' })
  note?: string;
}

export class RequestedResourceDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'demo-database' }) name!: string;
}

export class AccessDecisionDto {
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty({ format: 'email', example: 'ada@example.com' }) userEmail!: string;
  @ApiProperty({ enum: ACCESS_DECISIONS, enumName: 'AccessDecision' }) decision!: AccessDecision;
  @ApiProperty(TEXT_OR_NULL) note!: string | null;
  @ApiProperty(TIME) decidedAt!: Date;
}

export class AccessRequestDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty({ example: 'Demo Admin' }) userName!: string;
  @ApiProperty({ format: 'email', example: 'admin@example.com' }) userEmail!: string;
  @ApiProperty({ type: [RequestedResourceDto] }) resources!: readonly RequestedResourceDto[];
  @ApiProperty({
    type: [String],
    format: 'uuid',
    description:
      'While WAITING or APPROVED: the resources that the user could not start a session on now, because no role of the user ' +
      'reaches them any more, or because of a lockdown. When it is all of them, approving is 409',
  })
  unavailableResourceIds!: readonly string[];
  @ApiProperty({ type: 'integer', example: 2 }) durationHours!: number;
  @ApiProperty({ example: 'INC-12: the disk is full' }) reason!: string;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'INC-12' }) ticket!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: '203.0.113.10' }) ipv4Address!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: '2001:db8::10' }) ipv6Address!: string | null;
  @ApiProperty({
    description: 'A session that was started without approval, and is to be reviewed until endedAt',
  })
  breakGlass!: boolean;
  @ApiProperty({ enum: ACCESS_REQUEST_STATUSES, enumName: 'AccessRequestStatus' })
  status!: AccessRequestStatus;
  @ApiProperty({ type: 'integer', example: 1 }) approvalsNeeded!: number;
  @ApiProperty({ type: 'integer', example: 0, description: 'Those given so far' }) approvals!: number;
  @ApiProperty({
    type: [RequestedResourceDto],
    description: 'The roles whose members decide; empty: administrators',
  })
  approverRoles!: readonly RequestedResourceDto[];
  @ApiProperty({ ...TIME_OR_NULL, description: 'While WAITING: when it becomes EXPIRED' })
  decideBy!: Date | null;
  @ApiProperty({
    ...TIME_OR_NULL,
    description: 'While APPROVED: when it becomes LAPSED, unless a session uses it',
  })
  useBy!: Date | null;
  @ApiProperty({ type: [AccessDecisionDto] }) decisions!: readonly AccessDecisionDto[];
  @ApiProperty({ description: 'Whether you may approve or deny it now' }) mayDecide!: boolean;
  @ApiProperty({
    type: 'integer',
    example: 3,
    description: 'How many requests of the user led to sessions in the 30 days before',
  })
  usedBefore!: number;
  @ApiProperty({ ...ID_OR_NULL, description: 'The session that used it' }) sessionId!: string | null;
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty({
    ...TIME_OR_NULL,
    description: 'When it was used, denied, cancelled or too late; with breakGlass when it was reviewed',
  })
  endedAt!: Date | null;
}
