import { Check, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Flag, Id, Json, Moment, SameOrganization, Text, UpdatedAt, Uuid } from './columns';
import { UserEntity } from './user.entity';

/** The CI systems with known claims; CUSTOM: any other issuer that the operator allows. */
export const OIDC_PRESETS = ['GITHUB', 'GITLAB', 'BUILDKITE', 'HCP_TERRAFORM', 'CUSTOM'] as const;
export type OidcPreset = (typeof OIDC_PRESETS)[number];

/** Lets jobs with fitting ID tokens of an issuer act as a service user. */
@Entity('oidc_trusts')
@Unique('oidc_trusts_organization_id_name_key', ['organizationId', 'name'])
@Index('oidc_trusts_service_user_id_idx', ['serviceUserId'])
@Check('oidc_trusts_preset_check', `preset IN ('GITHUB', 'GITLAB', 'BUILDKITE', 'HCP_TERRAFORM', 'CUSTOM')`)
@SameOrganization(() => UserEntity, 'serviceUserId', 'oidc_trusts_service_user_fkey', 'CASCADE')
export class OidcTrustEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Text() name!: string;
  @Text() preset!: OidcPreset;
  /** exactly as in the `iss` claim */
  @Text() issuer!: string;
  @Uuid() serviceUserId!: string;
  @Text({ array: true }) scopes!: string[];
  /** claim: the allowed values */
  @Json() conditions!: Record<string, string[]>;
  @Flag({ default: true }) isEnabled!: boolean;
  /** access tokens of an earlier revision are invalid */
  @Count({ default: 1 }) revision!: number;
  @Moment({ nullable: true }) lastUsedAt!: Date | null;
  @Text() createdByEmail!: string;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

/** An ID token that was exchanged: its key refuses a second exchange. Deleted when the token would be refused anyway. */
@Entity('oidc_used_tokens')
@Index('oidc_used_tokens_expires_at_idx', ['expiresAt'])
export class OidcUsedTokenEntity {
  @PrimaryColumn('uuid') organizationId!: string;
  /** SHA-256 of issuer and `jti` in hex */
  @PrimaryColumn('text') tokenHash!: string;
  /** when it can no longer be exchanged, with tolerance */
  @Moment() expiresAt!: Date;
}
