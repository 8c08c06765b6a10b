import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsInt, IsOptional, Max, Min } from 'class-validator';
import { MAX_PASSWORD_LENGTH, TIERS, type Tier } from '#rules';
import { mayBeAbsent } from '../../http/absent-fields';
import { IsLine } from '../../http/text-fields';
import { MfaCodeDto } from '../../mfa/dto/mfa.dto';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;
const FLAG_MESSAGE = { message: 'must be true or false' };
const MIN_PASSWORD_LENGTH = 8;
const LENGTH_MESSAGE = {
  message: `must be a whole number from ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH}`,
};
const DETECTED_ADDRESS = 'true: POST /sessions accepts only the caller’s own address, also with an API key';
export const MAX_EXPIRATION_DAYS = 365;

export class OrganizationDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'Example Ltd' }) name!: string;
  @ApiProperty({ example: 'example-ltd', description: 'does not change with the name' }) slug!: string;
  @ApiProperty({ enum: TIERS, example: 'FREE' }) subscriptionTier!: Tier;
  @ApiProperty({ example: false, description: 'a suspended organization starts and extends no sessions' })
  suspended!: boolean;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}

export class UpdateOrganizationDto {
  @ApiPropertyOptional({ example: 'Example Ltd', minLength: 1, maxLength: 200 })
  @mayBeAbsent()
  @IsLine(200)
  name?: string;
}

export class DeleteOrganizationDto extends MfaCodeDto {
  @ApiProperty({ example: 'example-ltd', description: 'the slug of your organization, as a confirmation' })
  @IsLine(200)
  confirmSlug!: string;
}

export class OrganizationSettingsDto {
  @ApiProperty({ example: false, description: 'MFA required for all users' }) mfaRequired!: boolean;
  @ApiProperty({ type: 'integer', minimum: MIN_PASSWORD_LENGTH, maximum: MAX_PASSWORD_LENGTH, example: 8 })
  passwordMinLength!: number;
  @ApiProperty({ example: true }) passwordRequireUppercase!: boolean;
  @ApiProperty({ example: true }) passwordRequireLowercase!: boolean;
  @ApiProperty({ example: true }) passwordRequireDigit!: boolean;
  @ApiProperty({ example: false }) passwordRequireSpecialChar!: boolean;
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
}

/** Omitted fields stay unchanged. */
export class UpdateOrganizationSettingsDto {
  @ApiPropertyOptional({ description: 'true: users without MFA set it up at their next login' })
  @mayBeAbsent()
  @IsBoolean(FLAG_MESSAGE)
  mfaRequired?: boolean;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: MIN_PASSWORD_LENGTH,
    maximum: MAX_PASSWORD_LENGTH,
    example: 12,
  })
  @mayBeAbsent()
  @Min(MIN_PASSWORD_LENGTH, LENGTH_MESSAGE)
  @Max(MAX_PASSWORD_LENGTH, LENGTH_MESSAGE)
  @IsInt(LENGTH_MESSAGE)
  passwordMinLength?: number;

  @ApiPropertyOptional()
  @mayBeAbsent()
  @IsBoolean(FLAG_MESSAGE)
  passwordRequireUppercase?: boolean;

  @ApiPropertyOptional()
  @mayBeAbsent()
  @IsBoolean(FLAG_MESSAGE)
  passwordRequireLowercase?: boolean;

  @ApiPropertyOptional()
  @mayBeAbsent()
  @IsBoolean(FLAG_MESSAGE)
  passwordRequireDigit?: boolean;

  @ApiPropertyOptional()
  @mayBeAbsent()
  @IsBoolean(FLAG_MESSAGE)
  passwordRequireSpecialChar?: boolean;

  // the service checks the range: out of range is 422, not 400
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_EXPIRATION_DAYS,
    nullable: true,
    example: 90,
    description: 'null: passwords never expire. Outside the range: 422',
  })
  @IsOptional()
  @IsInt({ message: 'must be a whole number or null' })
  passwordExpirationDays?: number | null;

  @ApiPropertyOptional({ description: DETECTED_ADDRESS })
  @mayBeAbsent()
  @IsBoolean(FLAG_MESSAGE)
  requireDetectedAddress?: boolean;
}
