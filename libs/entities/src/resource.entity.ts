import type { Provider, ResourceConfig } from '#rules';
import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Count, CreatedAt, Flag, Id, Json, Moment, Text, UpdatedAt, Uuid } from './columns';
import { OrganizationEntity } from './organization.entity';
import { TargetEntity } from './target.entity';

@Entity('credentials')
@Unique('credentials_organization_id_id_key', ['organizationId', 'id'])
@Index('credentials_check_due_idx', ['checkDueAt'], { where: 'check_due_at IS NOT NULL' })
@Index('credentials_deleted_idx', ['checkDueAt'], { where: 'deleted_at IS NOT NULL' })
export class CredentialEntity {
  @Id() id!: string;
  @ForeignKey(() => OrganizationEntity, { name: 'credentials_organization_id_fkey' })
  @Uuid()
  organizationId!: string;
  @Text() name!: string;
  @Text() provider!: Provider;
  @Text() credentialType!: string;
  /** facts that are no secret, shown to admins */
  @Json({ default: {} }) hints!: Record<string, string>;
  /** each secret field sealed under the organization's data key; never leaves the process that opens it */
  @Json() sealedData!: Record<string, string>;
  @Flag({ nullable: true }) isValid!: boolean | null;
  @Moment({ nullable: true }) lastVerifiedAt!: Date | null;
  @Text({ nullable: true }) verificationError!: string | null;
  /** when the worker checks it next, or whether a deleted one is used no more; null: nothing to check */
  @Moment({ nullable: true, default: () => 'now()' }) checkDueAt!: Date | null;
  /** checks in a row that the provider did not answer */
  @Count({ default: 0 }) checkAttempts!: number;
  /** a target refused it: it is not tried again before, a longer time after each denial in a row */
  @Moment({ nullable: true }) deniedUntil!: Date | null;
  @Count({ default: 0 }) denials!: number;
  /** gone for the API; it is kept until the last rule that was written with it is gone */
  @Moment({ nullable: true }) deletedAt!: Date | null;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

@Entity('resources')
@Unique('resources_organization_id_id_key', ['organizationId', 'id'])
@Index('resources_target_id_idx', ['targetId'])
@Index('resources_credential_id_idx', ['credentialId'])
@Index('resources_deleted_idx', ['id'], { where: 'deleted_at IS NOT NULL' })
@Index('resources_verify_due_idx', ['verifyDueAt'], { where: 'deleted_at IS NULL' })
@ForeignKey(() => CredentialEntity, ['organizationId', 'credentialId'], ['organizationId', 'id'], {
  name: 'resources_credential_fkey',
})
export class ResourceEntity {
  @Id() id!: string;
  @ForeignKey(() => OrganizationEntity, { name: 'resources_organization_id_fkey' })
  @Uuid()
  organizationId!: string;
  @Text() name!: string;
  @Uuid() credentialId!: string;
  @Text() provider!: Provider;
  @Text() resourceType!: string;
  @Text() resourceIdentifier!: string;
  @Text({ nullable: true }) region!: string | null;
  @Json({ default: {} }) config!: ResourceConfig;
  @Flag({ default: false }) isActive!: boolean;
  @Moment({ nullable: true }) lastVerifiedAt!: Date | null;
  /** grows with every change of where its rules belong: a session that was planned for another place starts anew */
  @Count({ default: 0 }) revision!: number;
  /** when the worker verifies it next by itself; null: never, until somebody asked for the first time */
  @Moment({ nullable: true }) verifyDueAt!: Date | null;
  /** a background verification took isActive away, and gives it back when it succeeds again */
  @Flag({ default: false }) suspendedByCheck!: boolean;
  /** its last verification, with the credential it has now, proved that it may write */
  @Flag({ default: false }) writeVerified!: boolean;
  /** its target will never answer again, an admin said, and why: its rules are given up; null: verified since, or never */
  @Moment({ nullable: true }) abandonedAt!: Date | null;
  @Text({ nullable: true }) abandonReason!: string | null;
  /** gone for the API; the row goes when its last cloud rule is out */
  @Moment({ nullable: true }) deletedAt!: Date | null;
  /** the target it names, shared with every other resource that names it */
  @ForeignKey(() => TargetEntity, { name: 'resources_target_id_fkey' })
  @Uuid()
  targetId!: string;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

export const HEALTH_EVENT_TYPES = ['VERIFY_OK', 'VERIFY_FAILED', 'RECONCILE_OK', 'RECONCILE_FAILED'] as const;
export type HealthEventType = (typeof HEALTH_EVENT_TYPES)[number];

@Entity('resource_health_events')
@Index('resource_health_events_organization_id_idx', ['organizationId', 'createdAt'])
@Index('resource_health_events_resource_id_idx', ['resourceId', 'createdAt'])
@Index('resource_health_events_created_at_idx', ['createdAt', 'id'])
@Index('resource_health_events_kind_idx', { synchronize: false })
@ForeignKey(() => ResourceEntity, ['organizationId', 'resourceId'], ['organizationId', 'id'], {
  name: 'resource_health_events_resource_fkey',
  onDelete: 'CASCADE',
})
export class ResourceHealthEventEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() resourceId!: string;
  @Text() eventType!: HealthEventType;
  @Text({ nullable: true }) message!: string | null;
  @CreatedAt() createdAt!: Date;
}
