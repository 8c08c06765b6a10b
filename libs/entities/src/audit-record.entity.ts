import { Check, Column, Entity, Index } from 'typeorm';
import { Json, Moment, Text, Uuid, Id } from './columns';

export const AUDIT_EVENT_TYPES = [
  'ORGANIZATION_REGISTERED',
  'USER_LOGIN',
  'TOKEN_REUSED',
  'CREDENTIAL_CREATED',
  'RESOURCE_CREATED',
  'RESOURCE_VERIFIED',
  'ROLE_CREATED',
  'ROLE_RESOURCE_ASSIGNED',
  'ROLE_USER_ASSIGNED',
  'API_KEY_CREATED',
  'API_KEY_REVOKED',
  'SESSION_STARTED',
  'SESSION_EXTENDED',
  'SESSION_STOPPED',
  'SESSION_ACTIVATED',
  'SESSION_EXPIRED',
  'SESSION_FAILED',
  'SESSION_CANCELLED',
] as const;
export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number];

export type ActorType = 'USER' | 'API_KEY' | 'SYSTEM' | 'AGENT';

/** One deed. Written in the transaction of the deed; a trigger refuses to change or delete it. */
@Entity('audit_records')
@Index('audit_records_organization_id_idx', ['organizationId', 'sequence'], { unique: true })
@Check('audit_records_actor_type_check', `actor_type IN ('USER', 'API_KEY', 'SYSTEM', 'AGENT')`)
@Check('audit_records_result_check', `result IN ('SUCCESS', 'FAILURE')`)
export class AuditRecordEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Column({ type: 'bigint', generated: 'increment' }) sequence!: string;
  @Text() eventType!: AuditEventType;
  @Moment({ default: () => 'now()' }) timestamp!: Date;
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
