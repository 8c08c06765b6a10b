import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { PlatformRole } from '#rules';
import type { NoticeSwitch } from './notice-switches';
import { CreatedAt, Flag, ForeignId, Id, Moment, SameOrganization, Text, UpdatedAt, Uuid } from './columns';
import { OrganizationEntity } from './organization.entity';

@Entity('users')
@Unique('users_organization_id_id_key', ['organizationId', 'id'])
@Index('users_one_per_email', ['organizationId', 'email'], { unique: true, where: 'deleted_at IS NULL' })
@Index('users_email_idx', ['email'])
@Index('users_sso_session_over_at_idx', ['ssoSessionOverAt'], { where: 'sso_session_over_at IS NOT NULL' })
@Check('users_platform_role_check', `platform_role IN ('CUSTOMER', 'SUPPORT', 'SUPER_ADMIN')`)
@Check(
  'users_service_check',
  `NOT is_service OR (NOT is_org_admin AND platform_role = 'CUSTOMER' AND password_hash IS NULL AND mfa_sealed_secret IS NULL AND NOT mfa_enabled)`,
)
export class UserEntity {
  @Id() id!: string;
  @ForeignId(() => OrganizationEntity, 'users_organization_id_fkey') organizationId!: string;
  /** trimmed and lower case */
  @Text() email!: string;
  @Text() name!: string;
  @Text({ nullable: true }) passwordHash!: string | null;
  /** for programs: never signs in, is never an administrator, gets no mail, and acts with API keys only */
  @Flag({ default: false }) isService!: boolean;
  @Flag({ default: false }) isOrgAdmin!: boolean;
  @Text({ default: 'CUSTOMER' }) platformRole!: PlatformRole;
  /** false for a deleted user too, so it alone decides whether a user may sign in or act */
  @Flag({ default: true }) isActive!: boolean;
  @Moment({ nullable: true }) lastLoginAt!: Date | null;
  /** time of the newest invitation; null: never invited */
  @Moment({ nullable: true }) invitedAt!: Date | null;
  /** when the password was set, for its expiry */
  @Moment({ default: () => 'now()' }) passwordChangedAt!: Date;
  /** the administrator who has passed on the link by which it was set */
  @Uuid({ nullable: true }) passwordLinkBy!: string | null;
  @Flag({ default: false }) mfaEnabled!: boolean;
  /** the TOTP secret, encrypted with the organization's data key; set before `mfaEnabled` during set-up */
  @Text({ nullable: true }) mfaSealedSecret!: string | null;
  /** the time step of the last accepted TOTP code, against replay */
  @Column({ type: 'bigint', nullable: true }) mfaLastStep!: string | null;
  /** what the user wants no mail about */
  @Text({ array: true, default: [] }) noticesOff!: NoticeSwitch[];
  /** the issuer no longer vouches for the user: until the next company sign-in no API key is accepted, and no session started */
  @Moment({ nullable: true }) ssoRefusedAt!: Date | null;
  /** the issuer's own session is over, and no other company sign-in is left */
  @Moment({ nullable: true }) ssoSessionOverAt!: Date | null;
  /** deleted in the API; kept for the names in old sessions */
  @Moment({ nullable: true }) deletedAt!: Date | null;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

@Entity('refresh_tokens')
@Unique('refresh_tokens_token_hash_key', ['tokenHash'])
@Index('refresh_tokens_family_id_idx', ['familyId'])
@Index('refresh_tokens_user_id_idx', ['userId'])
@Index('refresh_tokens_expires_at_idx', ['expiresAt'])
@SameOrganization(() => UserEntity, 'userId', 'refresh_tokens_user_fkey', 'CASCADE')
export class RefreshTokenEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() userId!: string;
  /** shared by all tokens of one sign-in */
  @Uuid() familyId!: string;
  @Text() tokenHash!: string;
  /** signed in without the second factor that the organization requires */
  @Flag({ default: false }) mfaSetupOnly!: boolean;
  /** start of the sign-in */
  @Moment() signedInAt!: Date;
  /** when a code of the second factor was last given in this sign-in, with this token or one before it */
  @Moment({ nullable: true }) steppedUpAt!: Date | null;
  /** of the client that got this token */
  @Text({ nullable: true }) ipAddress!: string | null;
  @Text({ nullable: true }) userAgent!: string | null;
  @Moment() expiresAt!: Date;
  @Moment({ nullable: true }) usedAt!: Date | null;
  /** when a tolerated second use of its predecessor issued a newer token: using this one counts as reuse */
  @Moment({ nullable: true }) supersededAt!: Date | null;
  @Moment({ nullable: true }) revokedAt!: Date | null;
  @CreatedAt() createdAt!: Date;
}

@Entity('api_keys')
@Unique('api_keys_key_hash_key', ['keyHash'])
@Index('api_keys_organization_id_idx', ['organizationId', 'createdAt'])
@Index('api_keys_ends_idx', ['expiresAt'], { where: 'revoked_at IS NULL AND told_end IS NULL' })
@SameOrganization(() => UserEntity, 'userId', 'api_keys_user_fkey', 'CASCADE')
export class ApiKeyEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  /** the user whose rights the key has */
  @Uuid() userId!: string;
  @Text() name!: string;
  @Text({ nullable: true }) description!: string | null;
  @Text() keyPrefix!: string;
  @Text() keyHash!: string;
  @Text({ array: true }) scopes!: string[];
  /** names of the hosts it may serve, in lower case; empty: the first one it serves, or none without the scope */
  @Text({ array: true, default: [] }) agents!: string[];
  @Moment({ nullable: true }) expiresAt!: Date | null;
  /** the end that administrators were notified of */
  @Moment({ nullable: true }) toldEnd!: Date | null;
  @Moment({ nullable: true }) revokedAt!: Date | null;
  @Moment({ nullable: true }) lastUsedAt!: Date | null;
  @Text({ nullable: true }) lastUsedIp!: string | null;
  @Text() createdByEmail!: string;
  @CreatedAt() createdAt!: Date;
}
