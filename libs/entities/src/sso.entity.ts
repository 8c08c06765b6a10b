import { Check, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import {
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
import { RoleEntity } from './role.entity';
import { UserEntity } from './user.entity';

/** An issuer that an organization's people sign in with. */
@Entity('identity_providers')
@Unique('identity_providers_organization_id_id_key', ['organizationId', 'id'])
@Unique('identity_providers_organization_id_name_key', ['organizationId', 'name'])
@Check('identity_providers_domains_check', 'NOT create_users OR cardinality(email_domains) > 0')
export class IdentityProviderEntity {
  @Id() id!: string;
  @ForeignId(() => OrganizationEntity, 'identity_providers_organization_id_fkey') organizationId!: string;
  @Text() name!: string;
  /** exactly as in the `iss` claim */
  @Text() issuer!: string;
  @Text() clientId!: string;
  /** the client secret */
  @Json() sealedData!: Record<string, string>;
  /** null: groups are not used */
  @Text({ nullable: true }) groupsClaim!: string | null;
  /** with one `*`: a group that fits gives the role that is named as the part under it; null: none */
  @Text({ nullable: true }) groupPattern!: string | null;
  /** whose addresses the issuer may vouch for, in lower case */
  @Text({ array: true, default: [] }) emailDomains!: string[];
  /** people of these domains get an account at their first sign-in */
  @Flag({ default: false }) createUsers!: boolean;
  /** its second factor counts as the organization's */
  @Flag({ default: false }) trustsSecondFactor!: boolean;
  @Flag({ default: true }) isEnabled!: boolean;
  @Text({ nullable: true }) lastError!: string | null;
  @Text() createdByEmail!: string;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

/** What a group of the issuer makes of its members. */
@Entity('group_mappings')
@Unique('group_mappings_provider_id_group_name_role_id_key', ['providerId', 'groupName', 'roleId'])
@Index('group_mappings_role_id_idx', ['roleId'])
@SameOrganization(() => IdentityProviderEntity, 'providerId', 'group_mappings_provider_fkey', 'CASCADE')
@SameOrganization(() => RoleEntity, 'roleId', 'group_mappings_role_fkey', 'CASCADE')
export class GroupMappingEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() providerId!: string;
  @Text() groupName!: string;
  /** null: administrators */
  @Uuid({ nullable: true }) roleId!: string | null;
}

/** Who a subject of an issuer is. */
@Entity('user_identities')
@Unique('user_identities_provider_id_subject_key', ['providerId', 'subject'])
@Index('user_identities_user_id_idx', ['userId'])
@Index('user_identities_unlinked_idx', ['lastSeenAt'], { where: 'user_id IS NULL' })
@SameOrganization(() => IdentityProviderEntity, 'providerId', 'user_identities_provider_fkey', 'CASCADE')
@SameOrganization(() => UserEntity, 'userId', 'user_identities_user_fkey', 'CASCADE')
export class UserIdentityEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() providerId!: string;
  @Text() subject!: string;
  /** null: waits for an administrator to link it */
  @Uuid({ nullable: true }) userId!: string | null;
  /** the administrator who linked it; null: an invitation did, or it is not linked */
  @Uuid({ nullable: true }) linkedBy!: string | null;
  /** until its user, who had signed in before, signs in by it with the own second factor */
  @Flag({ default: false }) needsSecondFactor!: boolean;
  @Text({ nullable: true }) email!: string | null;
  /** for administrators to recognize the person */
  @Text({ nullable: true }) name!: string | null;
  @Text({ nullable: true }) username!: string | null;
  /** what of the newest claims could not be read; null: nothing */
  @Text({ nullable: true }) claimsError!: string | null;
  @Moment({ default: () => 'now()' }) lastSeenAt!: Date;
  @CreatedAt() createdAt!: Date;
}

/** A sign-in under way: from the redirect to the issuer (state) to the code of the client (code). */
@Entity('sso_attempts')
@Unique('sso_attempts_state_hash_key', ['stateHash'])
@Unique('sso_attempts_code_hash_key', ['codeHash'])
@Index('sso_attempts_expires_at_idx', ['expiresAt'])
@SameOrganization(() => IdentityProviderEntity, 'providerId', 'sso_attempts_provider_fkey', 'CASCADE')
export class SsoAttemptEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() providerId!: string;
  /** null: it was used */
  @Text({ nullable: true }) stateHash!: string | null;
  /** of the client: completing the sign-in proves to have begun it */
  @Text() clientChallenge!: string;
  /** console, code or a port of the loopback interface */
  @Text() returnsTo!: string;
  /** set when the issuer has answered */
  @Text({ nullable: true }) codeHash!: string | null;
  @Uuid({ nullable: true }) identityId!: string | null;
  @Flag({ default: false }) secondFactorProven!: boolean;
  /** nonce and verifier of PKCE; once the issuer has answered, its refresh token; null: it gave none */
  @Json({ nullable: true }) sealedData!: Record<string, string> | null;
  @Moment() expiresAt!: Date;
}

/** A sign-in (family of refresh tokens) that an issuer vouches for. */
@Entity('sso_sign_ins')
@Index('sso_sign_ins_check_due_at_idx', ['checkDueAt'])
@Index('sso_sign_ins_organization_id_idx', ['organizationId', 'checkDueAt'])
@Index('sso_sign_ins_user_id_idx', ['userId'])
@Index('sso_sign_ins_identity_id_idx', ['identityId'])
@SameOrganization(() => UserEntity, 'userId', 'sso_sign_ins_user_fkey', 'CASCADE')
export class SsoSignInEntity {
  @PrimaryColumn('uuid') familyId!: string;
  @Uuid() organizationId!: string;
  @ForeignId(() => UserIdentityEntity, 'sso_sign_ins_identity_id_fkey', { onDelete: 'CASCADE' })
  identityId!: string;
  @Uuid() userId!: string;
  /** the issuer's refresh token; null: it gave none, and the sign-in ends after eight hours */
  @Json({ nullable: true }) sealedData!: Record<string, string> | null;
  /** when the issuer is asked again; null: never */
  @Moment({ nullable: true }) checkDueAt!: Date | null;
  @Moment({ default: () => 'now()' }) checkedAt!: Date;
  /** a request with the refresh token was sent then, and its answer is not known */
  @Moment({ nullable: true }) askedAt!: Date | null;
  @CreatedAt() createdAt!: Date;
}
