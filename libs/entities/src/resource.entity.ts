import type { Provider, ResourceConfig } from '#rules';
import { Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import {
  Count,
  CreatedAt,
  Flag,
  ForeignId,
  Id,
  Json,
  Moment,
  SameOrganization,
  Text,
  UpdatedAt,
  Uuid,
} from './columns';
import { OrganizationEntity } from './organization.entity';
import { TargetEntity } from './target.entity';

@Entity('credentials')
@Unique('credentials_organization_id_id_key', ['organizationId', 'id'])
@Index('credentials_check_due_idx', ['checkDueAt'], { where: 'check_due_at IS NOT NULL' })
@Index('credentials_deleted_idx', ['checkDueAt'], { where: 'deleted_at IS NOT NULL' })
@Index('credentials_parent_id_account_key', ['parentId', 'account'], { unique: true })
@Index('credentials_accounts_due_idx', ['accountsDueAt'], { where: 'accounts_due_at IS NOT NULL' })
@SameOrganization(() => CredentialEntity, 'parentId', 'credentials_parent_fkey')
export class CredentialEntity {
  @Id() id!: string;
  @ForeignId(() => OrganizationEntity, 'credentials_organization_id_fkey') organizationId!: string;
  @Text() name!: string;
  @Text() provider!: Provider;
  @Text() credentialType!: string;
  /** non-secret facts, shown to admins */
  @Json({ default: {} }) hints!: Record<string, string>;
  /** each secret field sealed under the organization's data key; never leaves the process that opens it */
  @Json() sealedData!: Record<string, string>;
  @Flag({ nullable: true }) isValid!: boolean | null;
  @Moment({ nullable: true }) lastVerifiedAt!: Date | null;
  @Text({ nullable: true }) verificationError!: string | null;
  /** when the worker checks it next, or for a deleted one, whether it is still used; null: nothing to check */
  @Moment({ nullable: true, default: () => 'now()' }) checkDueAt!: Date | null;
  /** consecutive checks that the provider did not answer */
  @Count({ default: 0 }) checkAttempts!: number;
  /** deleted in the API; the row is kept until the last rule written with it is gone */
  @Moment({ nullable: true }) deletedAt!: Date | null;
  /** of a credential's row for one account: the credential, which has the secrets and the name of both */
  @Uuid({ nullable: true }) parentId!: string | null;
  /** as the provider calls it; null: the credential itself */
  @Text({ nullable: true }) account!: string | null;
  /** when the worker lists the provider's accounts next; null: never, before it was asked once */
  @Moment({ nullable: true }) accountsDueAt!: Date | null;
  /** when they were last asked for */
  @Moment({ nullable: true }) accountsAskedAt!: Date | null;
  /** why the provider did not list them; null: it did, or was not asked */
  @Text({ nullable: true }) accountsError!: string | null;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

@Entity('cloud_accounts')
@SameOrganization(() => CredentialEntity, 'credentialId', 'cloud_accounts_credential_fkey', 'CASCADE')
export class CloudAccountEntity {
  @Uuid() organizationId!: string;
  @PrimaryColumn('uuid') credentialId!: string;
  @PrimaryColumn('text') account!: string;
  /** given by an administrator */
  @Text({ nullable: true }) label!: string | null;
  /** its name in the provider's list */
  @Text({ nullable: true }) listedLabel!: string | null;
  /** in the provider's words */
  @Text({ nullable: true }) state!: string | null;
  /** when the provider last listed it; null: never */
  @Moment({ nullable: true }) listedAt!: Date | null;
  @CreatedAt() createdAt!: Date;
}

@Entity('resources')
@Unique('resources_organization_id_id_key', ['organizationId', 'id'])
@Index('resources_target_id_idx', ['targetId'])
@Index('resources_credential_id_idx', ['credentialId'])
@Index('resources_deleted_idx', ['id'], { where: 'deleted_at IS NOT NULL' })
@Index('resources_labels_idx', { synchronize: false })
@Index('resources_verify_due_idx', ['verifyDueAt'], { where: 'deleted_at IS NULL' })
@SameOrganization(() => CredentialEntity, 'credentialId', 'resources_credential_fkey')
export class ResourceEntity {
  @Id() id!: string;
  @ForeignId(() => OrganizationEntity, 'resources_organization_id_fkey') organizationId!: string;
  @Text() name!: string;
  @Uuid() credentialId!: string;
  @Text() provider!: Provider;
  @Text() resourceType!: string;
  @Text() resourceIdentifier!: string;
  @Text({ nullable: true }) region!: string | null;
  /** of the target, as the provider calls it; null: not known */
  @Text({ nullable: true }) account!: string | null;
  /** the host and port that people connect to; free text */
  @Text({ nullable: true }) endpoint!: string | null;
  @Json({ default: {} }) config!: ResourceConfig;
  /** what administrators call it by, and what a trigger adds: `drawbridge/…` */
  @Json({ default: {} }) labels!: Record<string, string>;
  @Flag({ default: false }) isActive!: boolean;
  @Moment({ nullable: true }) lastVerifiedAt!: Date | null;
  /** why the last verification of its current target failed; null: it did not, or there was none */
  @Text({ nullable: true }) verificationError!: string | null;
  /** the first successful verification of its current target; null: none. An agent's host guards its traffic from then on */
  @Moment({ nullable: true }) targetVerifiedAt!: Date | null;
  /** an admin agreed that a host cuts established connections to its current traffic; null: not yet */
  @Moment({ nullable: true }) guardConfirmedAt!: Date | null;
  /** incremented when the target of its rules changes: a session planned for an earlier revision is planned again */
  @Count({ default: 0 }) revision!: number;
  /** when the worker verifies it next; null: never, before the first requested verification */
  @Moment({ nullable: true }) verifyDueAt!: Date | null;
  /** a background verification cleared isActive, and the next successful one sets it again */
  @Flag({ default: false }) suspendedByCheck!: boolean;
  /** the last verification with its current credential proved write access */
  @Flag({ default: false }) writeVerified!: boolean;
  /** when an admin gave up its unreachable target and its rules; null: never, or verified since */
  @Moment({ nullable: true }) abandonedAt!: Date | null;
  @Text({ nullable: true }) abandonReason!: string | null;
  /** deleted in the API; the row is kept until its last cloud rule is removed */
  @Moment({ nullable: true }) deletedAt!: Date | null;
  /** the target it points at, shared with other resources */
  @ForeignId(() => TargetEntity, 'resources_target_id_fkey') targetId!: string;
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
@SameOrganization(() => ResourceEntity, 'resourceId', 'resource_health_events_resource_fkey', 'CASCADE')
export class ResourceHealthEventEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() resourceId!: string;
  @Text() eventType!: HealthEventType;
  @Text({ nullable: true }) message!: string | null;
  @CreatedAt() createdAt!: Date;
}
