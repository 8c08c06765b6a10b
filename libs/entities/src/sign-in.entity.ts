import { Check, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Id, Moment, SameOrganization, Text, Uuid } from './columns';
import { UserEntity } from './user.entity';

/** Failed attempts at one secret, from any address; kept for unknown accounts too. */
@Entity('sign_in_failures')
@Index('sign_in_failures_last_failed_at_idx', ['lastFailedAt'])
export class SignInFailureEntity {
  /** key of the counter: the account and the kind of secret */
  @PrimaryColumn('text') accountKey!: string;
  @Count() failures!: number;
  /** start of the interval after which one failure is dropped: the last failure, or later */
  @Moment() lastFailedAt!: Date;
  @Moment({ nullable: true }) lockedUntil!: Date | null;
}

/** The second step of one sign-in. */
@Entity('mfa_challenges')
@Index('mfa_challenges_expires_at_idx', ['expiresAt'])
@SameOrganization(() => UserEntity, 'userId', 'mfa_challenges_user_fkey', 'CASCADE')
export class MfaChallengeEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() userId!: string;
  @Count({ default: 0 }) tries!: number;
  @Moment() expiresAt!: Date;
  @Moment({ nullable: true }) usedAt!: Date | null;
}

/** Hashes of one-time codes that replace a lost authenticator. */
@Entity('recovery_codes')
@SameOrganization(() => UserEntity, 'userId', 'recovery_codes_user_fkey', 'CASCADE')
export class RecoveryCodeEntity {
  @PrimaryColumn('uuid') userId!: string;
  @PrimaryColumn('text') codeHash!: string;
  @Uuid() organizationId!: string;
  @Moment({ nullable: true }) usedAt!: Date | null;
}

export type AccountTokenPurpose = 'RESET' | 'INVITE' | 'PASSWORD_CHANGE';

/** Hash of a single-use token to set a password. */
@Entity('account_tokens')
@Unique('account_tokens_token_hash_key', ['tokenHash'])
@Index('account_tokens_user_id_idx', ['userId'])
@Index('account_tokens_expires_at_idx', ['expiresAt'])
@Check('account_tokens_purpose_check', `purpose IN ('RESET', 'INVITE', 'PASSWORD_CHANGE')`)
@SameOrganization(() => UserEntity, 'userId', 'account_tokens_user_fkey', 'CASCADE')
export class AccountTokenEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() userId!: string;
  @Text() purpose!: AccountTokenPurpose;
  @Text() tokenHash!: string;
  @Moment() expiresAt!: Date;
  @Moment({ nullable: true }) usedAt!: Date | null;
  /** the administrator who passes a link for a new password on */
  @Uuid({ nullable: true }) passedOnBy!: string | null;
  @CreatedAt() createdAt!: Date;
}

/** A device that has signed in to an account: its attempts are counted separately. */
@Entity('known_devices')
@Unique('known_devices_token_hash_user_id_key', ['tokenHash', 'userId'])
@Index('known_devices_user_id_idx', ['userId', 'expiresAt'])
@Index('known_devices_expires_at_idx', ['expiresAt'])
@SameOrganization(() => UserEntity, 'userId', 'known_devices_user_fkey', 'CASCADE')
export class KnownDeviceEntity {
  @Id() id!: string;
  @Uuid() organizationId!: string;
  @Uuid() userId!: string;
  /** one device may have several accounts */
  @Text() tokenHash!: string;
  @CreatedAt() createdAt!: Date;
  /** extended by each sign-in */
  @Moment() expiresAt!: Date;
}
