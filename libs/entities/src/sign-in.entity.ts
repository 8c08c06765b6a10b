import { Check, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Id, Moment, Text, Uuid } from './columns';
import { UserEntity } from './user.entity';

/** Failed attempts at one secret, wherever they came from; kept for unknown accounts too. */
@Entity('sign_in_failures')
@Index('sign_in_failures_last_failed_at_idx', ['lastFailedAt'])
export class SignInFailureEntity {
  /** names the counter: whose secret, and by which way it is tried */
  @PrimaryColumn('text') accountKey!: string;
  @Count() failures!: number;
  /** from here on the time runs after which a failure is forgotten: the last failure, or later */
  @Moment() lastFailedAt!: Date;
  @Moment({ nullable: true }) lockedUntil!: Date | null;
}

/** The second step of one sign-in. */
@Entity('mfa_challenges')
@Index('mfa_challenges_expires_at_idx', ['expiresAt'])
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
@Index('account_tokens_expires_at_idx', ['expiresAt'])
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

/** A device that has signed in to an account: attempts from it are counted apart from those of strangers. */
@Entity('known_devices')
@Unique('known_devices_token_hash_user_id_key', ['tokenHash', 'userId'])
@Index('known_devices_user_id_idx', ['userId', 'expiresAt'])
@Index('known_devices_expires_at_idx', ['expiresAt'])
@ForeignKey(() => UserEntity, ['organizationId', 'userId'], ['organizationId', 'id'], {
  name: 'known_devices_user_fkey',
  onDelete: 'CASCADE',
})
export class KnownDeviceEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() userId!: string;
  /** one device may know several accounts */
  @Text() tokenHash!: string;
  @CreatedAt() createdAt!: Date;
  /** moves on with each sign-in */
  @Moment() expiresAt!: Date;
}
