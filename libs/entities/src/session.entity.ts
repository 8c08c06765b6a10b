import type { AdditionCause, EndedReason, RemovalCause, ResourceIpStatus, SessionStatus } from '#rules';
import { Check, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Flag, ForeignId, Id, Json, Moment, SameOrganization, Text, Uuid } from './columns';
import { OrganizationEntity } from './organization.entity';
import { RuleEntity } from './target.entity';
import { STATIC_RULE_MAY_END } from './status-lists';
import { UserEntity } from './user.entity';

const LIVE = `status IN ('PENDING', 'ACTIVE', 'PARTIAL')`;

@Entity('sessions')
@Unique('sessions_organization_id_id_key', ['organizationId', 'id'])
@Index('sessions_one_live_per_ipv4', ['userId', 'ipv4Address', 'holder'], {
  unique: true,
  where: `ipv4_address IS NOT NULL AND ${LIVE}`,
})
@Index('sessions_one_live_per_ipv6', ['userId', 'ipv6Address', 'holder'], {
  unique: true,
  where: `ipv6_address IS NOT NULL AND ${LIVE}`,
})
@Index('sessions_token_hash_key', ['tokenHash'], { unique: true, where: 'token_hash IS NOT NULL' })
// on least(expires_at, lease_until)
@Index('sessions_ends_idx', { synchronize: false })
@Index('sessions_list_idx', ['organizationId', 'status', 'createdAt', 'id'])
@Index('sessions_list_of_user_idx', ['userId', 'status', 'createdAt', 'id'])
@Index('sessions_long_idx', ['organizationId', 'createdAt'], {
  where: `coalesce(ended_at, expires_at) - created_at > interval '25 hours'`,
})
@Check(
  'sessions_status_check',
  `status IN ('PENDING', 'ACTIVE', 'PARTIAL', 'FAILED', 'EXPIRING', 'EXPIRED', 'CANCELLED')`,
)
@Check('sessions_address_check', 'ipv4_address IS NOT NULL OR ipv6_address IS NOT NULL')
@SameOrganization(() => UserEntity, 'userId', 'sessions_user_fkey')
export class SessionEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() userId!: string;
  /** distinguishes parallel jobs of one user behind one address; empty by default */
  @Text({ default: '' }) holder!: string;
  @Text({ nullable: true }) ipv4Address!: string | null;
  @Text({ nullable: true }) ipv6Address!: string | null;
  @Text({ default: 'PENDING' }) status!: SessionStatus;
  @Moment({ default: () => 'now()' }) startedAt!: Date;
  @Moment() expiresAt!: Date;
  /** null: it has no lease */
  @Count({ nullable: true }) leaseSeconds!: number | null;
  /** it ends at this time or at `expiresAt`, whichever is first */
  @Moment({ nullable: true }) leaseUntil!: Date | null;
  /** the address it was started from, then those that renewals came from and that it does not let in, 20 at most */
  @Text({ array: true, default: [] }) heardFrom!: string[];
  /** of the token that reads, renews and stops it; null: it has none */
  @Text({ nullable: true }) tokenHash!: string | null;
  /** the API key that started it; no foreign key: ended sessions outlive keys. null: started without a key */
  @Uuid({ nullable: true }) apiKeyId!: string | null;
  /** the planned end that its holder was notified of; another one is reported again */
  @Moment({ nullable: true }) toldEnd!: Date | null;
  @Text({ nullable: true }) reason!: string | null;
  @Text({ nullable: true }) ticket!: string | null;
  /** the request that was approved for it, or that is to be reviewed; no foreign key: sessions outlive requests */
  @Uuid({ nullable: true }) accessRequestId!: string | null;
  @Uuid({ array: true, default: [] }) approverIds!: string[];
  /** it was started without approval */
  @Flag({ default: false }) breakGlass!: boolean;
  @Moment({ nullable: true }) endedAt!: Date | null;
  @Text({ nullable: true }) endedReason!: EndedReason | null;
  /** what stopped it, as in the ledger; null: it is live, or its time is over */
  @Text({ nullable: true }) endedCause!: RemovalCause | null;
  @CreatedAt() createdAt!: Date;
}

/** One address or range that is allowed on some resources until it is deleted, or its end. */
@Entity('static_ip_rules')
@Unique('static_ip_rules_organization_id_id_key', ['organizationId', 'id'])
@Index('static_ip_rules_organization_id_idx', ['organizationId', 'createdAt'])
@Index('static_ip_rules_deleted_idx', ['id'], { where: 'deleted_at IS NOT NULL' })
@Index('static_ip_rules_ends_idx', ['expiresAt'], { where: STATIC_RULE_MAY_END })
@Index('static_ip_rules_expired_idx', ['expiresAt'], { where: `closed_by = 'EXPIRY'` })
@Check('static_ip_rules_closed_by_check', `closed_by IN ('LOCKDOWN', 'EXPIRY')`)
@Check('static_ip_rules_closed_check', '(closed_on IS NULL) = (closed_by IS NULL)')
export class StaticIpRuleEntity {
  @Id() id!: string;
  @ForeignId(() => OrganizationEntity, 'static_ip_rules_organization_id_fkey') organizationId!: string;
  @Text() label!: string;
  /** canonical: an address alone, or a CIDR with its host bits cleared */
  @Text() ipAddress!: string;
  @Text() createdByEmail!: string;
  /** null: it has no end */
  @Moment({ nullable: true }) expiresAt!: Date | null;
  /** the end that is recorded as coming soon; another one is recorded again */
  @Moment({ nullable: true }) toldEnd!: Date | null;
  /** when it is to be reviewed; null: as the organization's settings say */
  @Moment({ nullable: true }) reviewBy!: Date | null;
  /** when an administrator confirmed it last, and who */
  @Moment({ nullable: true }) reviewedAt!: Date | null;
  @Text({ nullable: true }) reviewedByEmail!: string | null;
  /** the resources on which a lockdown or its end closed it; null: it is open */
  @Uuid({ array: true, nullable: true }) closedOn!: string[] | null;
  @Text({ nullable: true }) closedBy!: 'LOCKDOWN' | 'EXPIRY' | null;
  /** deleted in the API; the row is deleted with its last entry */
  @Moment({ nullable: true }) deletedAt!: Date | null;
  @CreatedAt() createdAt!: Date;
}

/** One address on one resource, desired by a session or a static rule. */
@Entity('resource_ips')
@Index('resource_ips_session_id_idx', ['sessionId'])
@Index('resource_ips_static_ip_rule_id_idx', ['staticIpRuleId'], { where: 'static_ip_rule_id IS NOT NULL' })
@Index('resource_ips_removed_entries_idx', ['id'], {
  where: `static_ip_rule_id IS NOT NULL AND status = 'REMOVED'`,
})
@Index('resource_ips_removing_idx', ['releasedAt'], { where: `status = 'REMOVING'` })
@Index('resource_ips_sessions_idx', ['resourceId', 'createdAt', 'sessionId'])
@Index('resource_ips_held_idx', ['organizationId', 'resourceId'], {
  where: `status IN ('PENDING', 'APPLIED', 'REMOVING')`,
})
@Check('resource_ips_status_check', `status IN ('PENDING', 'APPLIED', 'FAILED', 'REMOVING', 'REMOVED')`)
@Check('resource_ips_owner_check', '(session_id IS NULL) <> (static_ip_rule_id IS NULL)')
@SameOrganization(() => SessionEntity, 'sessionId', 'resource_ips_session_fkey', 'CASCADE')
@SameOrganization(() => StaticIpRuleEntity, 'staticIpRuleId', 'resource_ips_static_ip_rule_fkey', 'CASCADE')
export class ResourceIpEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid({ nullable: true }) sessionId!: string | null;
  @Uuid({ nullable: true }) staticIpRuleId!: string | null;
  /** no foreign key: ended sessions outlive their resources */
  @Uuid() resourceId!: string;
  /** the resource's name at that time, for when the resource is deleted */
  @Text({ default: '' }) resourceName!: string;
  @Count() ipVersion!: number;
  @Text() ipAddress!: string;
  @Text({ default: 'PENDING' }) status!: ResourceIpStatus;
  /** start of the wait to be applied, which times out */
  @Moment({ default: () => 'now()' }) pendingSince!: Date;
  @Text({ nullable: true }) providerRuleId!: string | null;
  @Moment({ nullable: true }) appliedAt!: Date | null;
  /** when its removal was requested */
  @Moment({ nullable: true }) releasedAt!: Date | null;
  @Moment({ nullable: true }) removedAt!: Date | null;
  @Text({ nullable: true }) errorMessage!: string | null;
  /** it FAILED because its target holds no addresses of its IP version */
  @Flag({ default: false }) wrongFamily!: boolean;
  /** a rule of it was given up, and why: it was not observed to be gone. null: none was, or all are present again */
  @Text({ nullable: true }) givenUp!: string | null;
  /** the unmanaged rules that let the address in when it was removed, for people; null: none was observed */
  @Text({ nullable: true }) stillAllowedBy!: string | null;
  @CreatedAt() createdAt!: Date;
}

/** The first answer to a start that named an Idempotency-Key. */
@Entity('idempotency_keys')
@Index('idempotency_keys_created_at_idx', ['createdAt'])
@SameOrganization(() => UserEntity, 'userId', 'idempotency_keys_user_fkey', 'CASCADE')
export class IdempotencyKeyEntity {
  @PrimaryColumn('uuid') userId!: string;
  @PrimaryColumn('text') key!: string;
  @Uuid() organizationId!: string;
  @Text() requestHash!: string;
  /** the session as returned by the first call */
  @Json({ nullable: true }) answer!: object | null;
  @CreatedAt() createdAt!: Date;
}

/**
 * A ResourceIp's claim on a rule: waiting, holding, or being removed. The rule is desired while one of its holders is not
 * released; there is no counter. The row is deleted when its ResourceIp is REMOVED or FAILED, or the rule was observed
 * absent.
 */
@Entity('rule_holders')
@Index('rule_holders_resource_ip_id_idx', ['resourceIpId'])
export class RuleHolderEntity {
  @ForeignKey(() => RuleEntity, { name: 'rule_holders_rule_id_fkey' })
  @PrimaryColumn('uuid')
  ruleId!: string;
  @ForeignKey(() => ResourceIpEntity, { name: 'rule_holders_resource_ip_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  resourceIpId!: string;
  /** why it claims the rule */
  @Text({ nullable: true }) cause!: AdditionCause | null;
  /** when and why the claim was released; null: it is held */
  @Moment({ nullable: true }) releasedAt!: Date | null;
  @Text({ nullable: true }) releaseCause!: RemovalCause | null;
}
