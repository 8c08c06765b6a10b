import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Id, Json, Moment, Text, Uuid } from './columns';

/** All audited actions. */
export const AUDIT_EVENT_TYPES = [
  'ORGANIZATION_REGISTERED',
  'ORGANIZATION_UPDATED',
  'ORGANIZATION_SETTINGS_UPDATE',
  'ORGANIZATION_SUSPENDED',
  'ORGANIZATION_REACTIVATED',
  'ORGANIZATION_LOCKED_DOWN',
  'ORGANIZATION_LOCKDOWN_LIFTED',
  'ORGANIZATION_DELETED',
  'ORGANIZATION_CLOSED',
  'USER_LOGIN',
  'USER_LOGOUT',
  'USER_LOCKED_OUT',
  'SIGN_IN_ENDED',
  'TOKEN_REUSED',
  'PASSWORD_CHANGED',
  'PASSWORD_RESET_REQUESTED',
  'PASSWORD_RESET',
  'INVITATION_SENT',
  'INVITATION_ACCEPTED',
  'MFA_ENABLED',
  'MFA_DISABLED',
  'MFA_RESET',
  'MFA_RECOVERY_CODES_REGENERATED',
  'SECOND_FACTOR_PROVEN',
  'USER_CREATED',
  'USER_UPDATED',
  'USER_DELETED',
  'USER_LOCKED_DOWN',
  'USER_LOCKDOWN_LIFTED',
  'PLATFORM_ROLE_GRANTED',
  'CREDENTIAL_CREATED',
  'CREDENTIAL_UPDATED',
  'CREDENTIAL_DELETED',
  'CREDENTIAL_VERIFIED',
  'IDENTITY_TOKEN_SIGNED',
  'RESOURCE_CREATED',
  'RESOURCE_UPDATED',
  'RESOURCE_DELETED',
  'RESOURCE_VERIFIED',
  'ROLE_CREATED',
  'ROLE_UPDATED',
  'ROLE_DELETED',
  'ROLE_RESOURCE_ASSIGNED',
  'ROLE_RESOURCE_UNASSIGNED',
  'ROLE_USER_ASSIGNED',
  'ROLE_USER_UNASSIGNED',
  'MEMBERSHIP_REVIEWED',
  'STATIC_IP_RULE_CREATED',
  'STATIC_IP_RULE_UPDATED',
  'STATIC_IP_RULE_DELETED',
  'STATIC_IP_RULE_APPLIED',
  'STATIC_IP_RULE_FAILED',
  'STATIC_IP_RULE_EXPIRING',
  'STATIC_IP_RULE_EXPIRED',
  'STATIC_IP_RULE_REVIEWED',
  'API_KEY_CREATED',
  'API_KEY_REVOKED',
  'API_KEY_BOUND',
  'API_KEY_EXPIRING',
  'OIDC_TRUST_CREATED',
  'OIDC_TRUST_UPDATED',
  'OIDC_TRUST_DELETED',
  'OIDC_TOKEN_EXCHANGED',
  'OIDC_EXCHANGE_REFUSED',
  'OIDC_TOKEN_EXPLAINED',
  'IDENTITY_PROVIDER_CREATED',
  'IDENTITY_PROVIDER_UPDATED',
  'IDENTITY_PROVIDER_DELETED',
  'IDENTITY_PROVIDER_TESTED',
  'IDENTITY_LINKED',
  'IDENTITY_UNLINKED',
  'USER_REFUSED_BY_ISSUER',
  'COMPANY_SIGN_IN_ENDED',
  'USER_NOT_SIGNED_IN_AGAIN',
  'WEBHOOK_CREATED',
  'WEBHOOK_UPDATED',
  'WEBHOOK_DELETED',
  'WEBHOOK_SECRET_ROTATED',
  'WEBHOOK_TESTED',
  'WEBHOOK_REDELIVERED',
  'WEBHOOK_DISABLED',
  'BILLING_DETAILS_UPDATED',
  'SUBSCRIPTION_CREATED',
  'SUBSCRIPTION_ACTIVATED',
  'SUBSCRIPTION_CANCELLED',
  'SUBSCRIPTION_PAST_DUE',
  'SUBSCRIPTION_EXPIRED',
  'PAYMENT_SUCCEEDED',
  'PAYMENT_FAILED',
  'SESSION_STARTED',
  'SESSION_EXTENDED',
  'SESSION_STOPPED',
  'SESSION_ACTIVATED',
  'SESSION_EXPIRING',
  'SESSION_EXPIRED',
  'SESSION_FAILED',
  'SESSION_CANCELLED',
  'ACCESS_REQUESTED',
  'ACCESS_REQUEST_APPROVAL_GIVEN',
  'ACCESS_REQUEST_APPROVAL_WITHDRAWN',
  'ACCESS_REQUEST_APPROVED',
  'ACCESS_REQUEST_DENIED',
  'ACCESS_REQUEST_CANCELLED',
  'ACCESS_REQUEST_EXPIRED',
  'ACCESS_REQUEST_LAPSED',
  'BREAK_GLASS_STARTED',
  'BREAK_GLASS_REVIEWED',
  'RULE_REVOCATION_OVERDUE',
  'RULE_ORPHAN_REMOVED',
  'RESTORE_CONFIRMED',
  'RESOURCE_RECONCILED',
  'RESOURCE_ABANDONED',
  'RESOURCE_GUARD_CONFIRMED',
  'AGENT_CONNECTED',
  'AGENT_OFFLINE',
  'AGENT_DUPLICATED',
  'AGENT_RELEASED',
  'AGENT_GUARD_CHANGED',
] as const;
export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number];

export const ACTOR_TYPES = ['USER', 'API_KEY', 'SYSTEM', 'AGENT', 'SESSION'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** One audited action. Written in the action's transaction; a trigger refuses to change or delete it. */
@Entity('audit_records')
@Index('audit_records_organization_id_idx', ['organizationId', 'timestamp', 'sequence'])
@Index('audit_records_event_type_idx', ['organizationId', 'eventType', 'timestamp'])
@Index('audit_records_actor_email_idx', ['organizationId', 'actorEmail', 'timestamp'], {
  where: 'actor_email IS NOT NULL',
})
@Index('audit_records_actor_id_idx', ['organizationId', 'actorId', 'timestamp'], {
  where: 'actor_id IS NOT NULL',
})
@Index('audit_records_resource_id_idx', ['organizationId', 'resourceId', 'timestamp'])
@Index('audit_records_user_id_idx', { synchronize: false })
@Index('audit_records_denied_idx', ['organizationId', 'timestamp'], {
  where: `result = 'FAILURE' AND actor_type <> 'SYSTEM'`,
})
@Index('audit_records_transaction_id_idx', ['transactionId', 'sequence'])
@Check('audit_records_actor_type_check', `actor_type IN ('USER', 'API_KEY', 'SYSTEM', 'AGENT', 'SESSION')`)
@Check('audit_records_result_check', `result IN ('SUCCESS', 'FAILURE')`)
export class AuditRecordEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Column({ type: 'bigint', generated: 'increment' }) sequence!: string;
  /**
   * the transaction it was written in: records older than every running transaction are complete and can be sealed in
   * order
   */
  @Column({ type: 'bigint', default: () => 'current_transaction()' }) transactionId!: string;
  @Text() eventType!: AuditEventType;
  /** determines the partition: one for each month */
  @PrimaryColumn('timestamptz', { default: () => 'now()' }) timestamp!: Date;
  @Text() actorType!: ActorType;
  @Uuid({ nullable: true }) actorId!: string | null;
  @Text({ nullable: true }) actorEmail!: string | null;
  @Text({ nullable: true }) resourceType!: string | null;
  @Uuid({ nullable: true }) resourceId!: string | null;
  @Text({ nullable: true }) resourceName!: string | null;
  @Text({ default: 'SUCCESS' }) result!: 'SUCCESS' | 'FAILURE';
  @Text({ nullable: true }) ipAddress!: string | null;
  @Text({ nullable: true }) errorMessage!: string | null;
  @Json({ default: {} }) details!: Record<string, unknown>;
}

/** The record of a revocation that could not be written into the trail. The worker retries writing it. */
@Entity('unwritten_audit_records')
export class UnwrittenAuditRecordEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' }) id!: string;
  @Uuid() organizationId!: string;
  @Json() entry!: Record<string, unknown>;
  @Moment({ default: () => 'now()' }) keptAt!: Date;
}

/** One link of an organization's chain: a hash over the record and the previous link. Append-only. */
@Entity('audit_seals')
@Unique('audit_seals_record_id_key', ['recordId'])
export class AuditSealEntity {
  @PrimaryColumn('uuid') organizationId!: string;
  @PrimaryColumn('bigint') position!: string;
  /** no foreign key: it cannot refer to the partitioned table by the id alone */
  @Uuid() recordId!: string;
  /** the record's timestamp, which finds its partition */
  @Moment() recordedAt!: Date;
  /** SHA-256 in hex */
  @Text() hash!: string;
}

/** The position of sealing. One row. */
@Entity('audit_seal_cursor')
@Check('audit_seal_cursor_one_row', 'id = 1')
export class AuditSealCursorEntity {
  @PrimaryColumn('integer') id!: number;
  @Column({ type: 'bigint' }) transactionId!: string;
  @Column({ type: 'bigint' }) sequence!: string;
}

/** The end of an organization's chain at a time, signed with a key that is not in the database. */
@Entity('audit_checkpoints')
@Index('audit_checkpoints_signed_at_idx', ['signedAt'])
export class AuditCheckpointEntity {
  @PrimaryColumn('uuid') organizationId!: string;
  @PrimaryColumn('bigint') position!: string;
  @Text() hash!: string;
  @Moment() signedAt!: Date;
  @Text() keyId!: string;
  /** Ed25519, base64 */
  @Text() signature!: string;
}

/** A range of an organization's chain whose records are in an export, and no longer in the database. Append-only. */
@Entity('audit_exports')
@Check('audit_exports_range_check', 'first_position >= 1 AND last_position >= first_position')
export class AuditExportEntity {
  @PrimaryColumn('uuid') organizationId!: string;
  @PrimaryColumn('bigint') firstPosition!: string;
  @Column('bigint') lastPosition!: string;
  /** of the seal before the first */
  @Text() hashBefore!: string;
  /** of the last seal */
  @Text() hash!: string;
  /** of the records, `YYYY-MM` */
  @Text() month!: string;
  @Moment({ default: () => 'now()' }) droppedAt!: Date;
}
