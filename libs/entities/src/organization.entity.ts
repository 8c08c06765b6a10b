import type { Tier } from '#rules';
import { Check, Entity, ForeignKey, Generated, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Flag, Id, Moment, Text, UpdatedAt, Uuid } from './columns';

@Entity('organizations')
@Unique('organizations_slug_key', ['slug'])
@Unique('organizations_external_id_key', ['externalId'])
@Index('organizations_deleted_idx', ['closedAt'], { where: 'deleted_at IS NOT NULL' })
@Check('organizations_tier_check', `subscription_tier IN ('FREE', 'PAID')`)
@Check('organizations_password_min_length_check', 'password_min_length BETWEEN 8 AND 128')
@Check('organizations_password_expiration_days_check', 'password_expiration_days BETWEEN 1 AND 365')
@Check('organizations_re_sign_in_grace_hours_check', 're_sign_in_grace_hours BETWEEN 0 AND 72')
@Check('organizations_membership_review_days_check', 'membership_review_days BETWEEN 30 AND 730')
@Check('organizations_static_rule_review_days_check', 'static_rule_review_days BETWEEN 30 AND 730')
@Check('organizations_max_resources_per_session_check', 'max_resources_per_session BETWEEN 1 AND 2000')
@Check('organizations_sso_check', 'NOT sso_required OR recovery_administrator_id IS NOT NULL')
@ForeignKey('UserEntity', ['id', 'recoveryAdministratorId'], ['organizationId', 'id'], {
  name: 'organizations_recovery_administrator_fkey',
})
export class OrganizationEntity {
  @Id() id!: string;
  @Text() slug!: string;
  @Text() name!: string;
  @Text({ default: 'FREE' }) subscriptionTier!: Tier;
  /** shown to tenants for the trust policy of the AWS roles that this service assumes; never settable */
  @Uuid() @Generated('uuid') externalId!: string;
  @Moment({ nullable: true }) suspendedAt!: Date | null;
  @Text({ nullable: true }) suspendedReason!: string | null;
  @Flag({ default: false }) mfaRequired!: boolean;
  @Count({ default: 8 }) passwordMinLength!: number;
  @Flag({ default: true }) passwordRequireUppercase!: boolean;
  @Flag({ default: true }) passwordRequireLowercase!: boolean;
  @Flag({ default: true }) passwordRequireDigit!: boolean;
  @Flag({ default: false }) passwordRequireSpecialChar!: boolean;
  /** null: passwords never expire */
  @Count({ nullable: true }) passwordExpirationDays!: number | null;
  /** deleted in the API: suspended for ever, without users; its slug is free for others */
  @Moment({ nullable: true }) deletedAt!: Date | null;
  /** when the last rule of the deleted organization was gone: from then on only its history is left */
  @Moment({ nullable: true }) closedAt!: Date | null;
  /** sessions may only allow the address that the start request came from */
  @Flag({ default: false }) requireDetectedAddress!: boolean;
  /** people sign in with an identity provider; with a password only the recovery administrator */
  @Flag({ default: false }) ssoRequired!: boolean;
  @Uuid({ nullable: true }) recoveryAdministratorId!: string | null;
  /** how long API keys and open access go on when the issuer's own session is over */
  @Count({ default: 24 }) reSignInGraceHours!: number;
  /** days until a membership, or a static IP rule, is to be reviewed again; null: never */
  @Count({ nullable: true }) membershipReviewDays!: number | null;
  @Count({ nullable: true }) staticRuleReviewDays!: number | null;
  /** null: as many as its user may open */
  @Count({ nullable: true }) maxResourcesPerSession!: number | null;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

/** An organization's data keys, each wrapped by a version of the master key. */
@Entity('data_keys')
export class DataKeyEntity {
  @PrimaryColumn('uuid') organizationId!: string;
  @PrimaryColumn('integer') version!: number;
  @Count() masterKeyVersion!: number;
  @Text() wrappedKey!: string;
  @CreatedAt() createdAt!: Date;
}
