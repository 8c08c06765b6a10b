import { Check, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Id, Moment, Text, Uuid } from './columns';
import { UserEntity } from './user.entity';

/** Failed sign-ins of one account, whatever its spelling and wherever they came from; kept for unknown accounts too. */
@Entity('sign_in_failures')
export class SignInFailureEntity {
  @PrimaryColumn('text') accountKey!: string;
  @Count() failures!: number;
  @Moment() lastFailedAt!: Date;
  @Moment({ nullable: true }) lockedUntil!: Date | null;
}

/** The second step of one sign-in. */
@Entity('mfa_challenges')
@ForeignKey(() => UserEntity, ['organizationId', 'userId'], ['organizationId', 'id'], {
  name: 'mfa_challenges_user_fkey',
  onDelete: 'CASCADE',
})
export class MfaChallengeEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() userId!: string;
  @Count({ default: 0 }) tries!: number;
  @Moment() expiresAt!: Date;
  @Moment({ nullable: true }) usedAt!: Date | null;
}

/** One-time codes for who lost the authenticator; only their hashes. */
@Entity('recovery_codes')
@ForeignKey(() => UserEntity, ['organizationId', 'userId'], ['organizationId', 'id'], {
  name: 'recovery_codes_user_fkey',
  onDelete: 'CASCADE',
})
export class RecoveryCodeEntity {
  @PrimaryColumn('uuid') userId!: string;
  @PrimaryColumn('text') codeHash!: string;
  @Uuid() organizationId!: string;
  @Moment({ nullable: true }) usedAt!: Date | null;
}

export type AccountTokenPurpose = 'RESET' | 'INVITE' | 'PASSWORD_CHANGE';

/** A token that lets somebody set a password once; only its hash. */
@Entity('account_tokens')
@Unique('account_tokens_token_hash_key', ['tokenHash'])
@Index('account_tokens_user_id_idx', ['userId'])
@Check('account_tokens_purpose_check', `purpose IN ('RESET', 'INVITE', 'PASSWORD_CHANGE')`)
@ForeignKey(() => UserEntity, ['organizationId', 'userId'], ['organizationId', 'id'], {
  name: 'account_tokens_user_fkey',
  onDelete: 'CASCADE',
})
export class AccountTokenEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() userId!: string;
  @Text() purpose!: AccountTokenPurpose;
  @Text() tokenHash!: string;
  @Moment() expiresAt!: Date;
  @Moment({ nullable: true }) usedAt!: Date | null;
  @CreatedAt() createdAt!: Date;
}
