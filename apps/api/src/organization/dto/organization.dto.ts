import { ApiProperty } from '@nestjs/swagger';
import { IsInt } from 'class-validator';
import { MAX_PASSWORD_LENGTH, TIERS, type Tier } from '#rules';
import { MIN_PASSWORD_LENGTH, PasswordPolicyDto } from '../../auth/dto/password-link.dto';
import {
  flag,
  id,
  integerIn,
  line,
  MayBeAbsent,
  Optional,
  Required,
  TIME,
  type Kind,
} from '../../http/fields';
import { ID_OR_NULL } from '../../http/nullable';
import { LockdownDto } from '../../lockdown/dto/lockdown.dto';
import { MfaCodeDto } from '../../mfa/dto/mfa.dto';

const PASSWORD_LENGTH = integerIn(
  MIN_PASSWORD_LENGTH,
  MAX_PASSWORD_LENGTH,
  `must be a whole number from ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH}`,
);
const DETECTED_ADDRESS = 'true: POST /sessions accepts only the caller’s own address, also with an API key';
const SSO_REQUIRED = 'true: people sign in with an identity provider; passwords are refused';
const RECOVERY = 'the only user who may sign in with a password while ssoRequired is true';
const GRACE_HOURS = integerIn(0, 72, 'must be a whole number from 0 to 72');
const GRACE =
  'how long API keys and open access go on when the identity provider’s own session with a person is over, ' +
  'until that person signs in again';
const MAX_EXPIRATION_DAYS = 365;

/** Of settings that may be null. What is outside is 422, which the service answers, not 400. */
export const RANGES = {
  passwordExpirationDays: { from: 1, to: MAX_EXPIRATION_DAYS, otherwise: 'for passwords that never expire' },
  membershipReviewDays: { from: 30, to: 730, otherwise: 'for no reviews' },
  staticRuleReviewDays: { from: 30, to: 730, otherwise: 'for no reviews' },
  maxResourcesPerSession: { from: 1, to: 2000, otherwise: 'for as many as one’s roles allow' },
} as const;

const MEMBERSHIP_REVIEWS =
  'days until an administrator is to confirm again that a user has a role; null: never. See GET /reviews';
const STATIC_RULE_REVIEWS =
  'days until an administrator is to confirm a static IP rule again; null: never. See GET /reviews';

const numberOrNull = ({ from, to }: { readonly from: number; readonly to: number }): Kind => ({
  checks: [IsInt({ message: 'must be a whole number or null' })],
  doc: { type: 'integer', minimum: from, maximum: to, nullable: true },
});
const EXPIRATION_DAYS = numberOrNull(RANGES.passwordExpirationDays);
const REVIEW_DAYS = numberOrNull(RANGES.membershipReviewDays);
const SESSION_SIZE = numberOrNull(RANGES.maxResourcesPerSession);
const SESSION_SIZES =
  'most resources that one session may open: a start that would open more has to choose. null: no limit';

export class OrganizationDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'Example Ltd' }) name!: string;
  @ApiProperty({ example: 'example-ltd', description: 'does not change with the name' }) slug!: string;
  @ApiProperty({ enum: TIERS, example: 'FREE' }) subscriptionTier!: Tier;
  @ApiProperty({ example: false, description: 'a suspended organization starts and extends no sessions' })
  suspended!: boolean;
  @ApiProperty({ example: false, description: SSO_REQUIRED }) ssoRequired!: boolean;
  @ApiProperty({ ...ID_OR_NULL, example: null, description: RECOVERY })
  recoveryAdministratorId!: string | null;
  @ApiProperty({
    example: 'https://drawbridge.example.com/api/v1/auth/sso/example-ltd/callback',
    description: 'to be registered at an identity provider before it is added here',
  })
  ssoRedirectUri!: string;
  @ApiProperty({ type: LockdownDto, nullable: true }) lockdown!: LockdownDto | null;
  @ApiProperty(TIME) createdAt!: Date;
  @ApiProperty(TIME) updatedAt!: Date;
}

export class UpdateOrganizationDto {
  @MayBeAbsent(line(200), { example: 'Example Ltd', minLength: 1 })
  name?: string;

  @MayBeAbsent(flag(), {
    description: `${SSO_REQUIRED}. To set it, sign in with an identity provider that is enabled, and name a recovery administrator`,
  })
  ssoRequired?: boolean;

  @Optional(id(), {
    nullable: true,
    description: `${RECOVERY}. An active administrator with MFA and a password; null: none, while ssoRequired is false`,
  })
  recoveryAdministratorId?: string | null;
}

export class DeleteOrganizationDto extends MfaCodeDto {
  @Required(line(200), {
    example: 'example-ltd',
    description: 'the slug of your organization, as a confirmation',
  })
  confirmSlug!: string;
}

export class OrganizationSettingsDto extends PasswordPolicyDto {
  @ApiProperty({ example: false, description: 'MFA required for all users' }) mfaRequired!: boolean;
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_EXPIRATION_DAYS,
    nullable: true,
    example: null,
    description: 'null: passwords never expire',
  })
  passwordExpirationDays!: number | null;
  @ApiProperty({ example: false, description: DETECTED_ADDRESS }) requireDetectedAddress!: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 72, example: 24, description: GRACE })
  reSignInGraceHours!: number;
  @ApiProperty({ ...REVIEW_DAYS.doc, example: null, description: MEMBERSHIP_REVIEWS })
  membershipReviewDays!: number | null;
  @ApiProperty({ ...REVIEW_DAYS.doc, example: null, description: STATIC_RULE_REVIEWS })
  staticRuleReviewDays!: number | null;
  @ApiProperty({ ...SESSION_SIZE.doc, example: null, description: SESSION_SIZES })
  maxResourcesPerSession!: number | null;
}

/** Omitted fields stay unchanged. */
export class UpdateOrganizationSettingsDto {
  @MayBeAbsent(flag(), { description: 'true: users without MFA set it up at their next login' })
  mfaRequired?: boolean;

  @MayBeAbsent(PASSWORD_LENGTH, { example: 12 })
  passwordMinLength?: number;

  @MayBeAbsent(flag())
  passwordRequireUppercase?: boolean;

  @MayBeAbsent(flag())
  passwordRequireLowercase?: boolean;

  @MayBeAbsent(flag())
  passwordRequireDigit?: boolean;

  @MayBeAbsent(flag())
  passwordRequireSpecialChar?: boolean;

  @Optional(EXPIRATION_DAYS, {
    example: 90,
    description: 'null: passwords never expire. Outside the range: 422',
  })
  passwordExpirationDays?: number | null;

  @MayBeAbsent(flag(), { description: DETECTED_ADDRESS })
  requireDetectedAddress?: boolean;

  @MayBeAbsent(GRACE_HOURS, { example: 24, description: GRACE })
  reSignInGraceHours?: number;

  @Optional(REVIEW_DAYS, { example: 90, description: `${MEMBERSHIP_REVIEWS}. Outside the range: 422` })
  membershipReviewDays?: number | null;

  @Optional(REVIEW_DAYS, { example: 365, description: `${STATIC_RULE_REVIEWS}. Outside the range: 422` })
  staticRuleReviewDays?: number | null;

  @Optional(SESSION_SIZE, { example: 50, description: `${SESSION_SIZES}. Outside the range: 422` })
  maxResourcesPerSession?: number | null;
}
