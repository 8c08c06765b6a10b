import { Check, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Flag, Id, Moment, SameOrganization, Text, Uuid } from './columns';
import { UserEntity } from './user.entity';

/** WAITING may become APPROVED, DENIED, EXPIRED or CANCELLED; APPROVED may become USED or LAPSED. */
export const ACCESS_REQUEST_STATUSES = [
  'WAITING',
  'APPROVED',
  'DENIED',
  'EXPIRED',
  'CANCELLED',
  'USED',
  'LAPSED',
] as const;
export type AccessRequestStatus = (typeof ACCESS_REQUEST_STATUSES)[number];

export const ACCESS_DECISIONS = ['APPROVED', 'DENIED', 'REVIEWED'] as const;
export type AccessDecision = (typeof ACCESS_DECISIONS)[number];

/** A request for a session that others have to approve, or a session that was started without and is to be reviewed. */
@Entity('access_requests')
@Unique('access_requests_organization_id_id_key', ['organizationId', 'id'])
@Index('access_requests_list_idx', ['organizationId', 'createdAt', 'id'])
@Index('access_requests_of_requester_idx', ['requesterId', 'createdAt', 'id'])
@Index('access_requests_waiting_idx', ['organizationId', 'createdAt', 'id'], { where: `status = 'WAITING'` })
@Index('access_requests_review_idx', ['organizationId', 'createdAt', 'id'], {
  where: 'break_glass AND ended_at IS NULL',
})
@Index('access_requests_due_at_idx', ['dueAt'], { where: 'due_at IS NOT NULL' })
@Index('access_requests_ended_at_idx', ['endedAt'], { where: 'ended_at IS NOT NULL' })
@Check(
  'access_requests_status_check',
  `status IN ('WAITING', 'APPROVED', 'DENIED', 'EXPIRED', 'CANCELLED', 'USED', 'LAPSED')
    AND (due_at IS NOT NULL) = (status IN ('WAITING', 'APPROVED')) AND (session_id IS NOT NULL) = (status = 'USED')`,
)
@Check(
  'access_requests_approvals_check',
  `status NOT IN ('APPROVED', 'USED', 'LAPSED') OR approvals >= approvals_needed`,
)
@SameOrganization(() => UserEntity, 'requesterId', 'access_requests_requester_fkey', 'CASCADE')
export class AccessRequestEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() requesterId!: string;
  /** no foreign key: requests outlive resources */
  @Uuid({ array: true }) resourceIds!: string[];
  @Count() durationHours!: number;
  @Text() reason!: string;
  @Text({ nullable: true }) ticket!: string | null;
  @Text({ nullable: true }) ipv4Address!: string | null;
  @Text({ nullable: true }) ipv6Address!: string | null;
  /** started without approval, to be reviewed */
  @Flag({ default: false }) breakGlass!: boolean;
  @Count() approvalsNeeded!: number;
  @Count({ default: 0 }) approvals!: number;
  /** whose members decide; empty: administrators */
  @Uuid({ array: true, default: [] }) approverRoleIds!: string[];
  @Text({ default: 'WAITING' }) status!: AccessRequestStatus;
  /** until when it can be decided or used; null: neither */
  @Moment({ nullable: true }) dueAt!: Date | null;
  @Uuid({ nullable: true }) sessionId!: string | null;
  /** with `breakGlass`: when it was reviewed */
  @Moment({ nullable: true }) endedAt!: Date | null;
  @CreatedAt() createdAt!: Date;
}

/** Who approved, denied or reviewed a request. */
@Entity('access_request_decisions')
@Check('access_request_decisions_decision_check', `decision IN ('APPROVED', 'DENIED', 'REVIEWED')`)
@SameOrganization(() => AccessRequestEntity, 'requestId', 'access_request_decisions_request_fkey', 'CASCADE')
@SameOrganization(() => UserEntity, 'userId', 'access_request_decisions_user_fkey', 'CASCADE')
export class AccessRequestDecisionEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @PrimaryColumn('uuid') userId!: string;
  @Uuid() organizationId!: string;
  @Text() decision!: AccessDecision;
  @Text({ nullable: true }) note!: string | null;
  @CreatedAt() createdAt!: Date;
}
