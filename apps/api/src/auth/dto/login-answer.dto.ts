import { ApiProperty } from '@nestjs/swagger';
import { TIERS, type Tier } from '#rules';
import { TEXT_OR_NULL } from '../../http/nullable';

export class SignedInUserDto {
  @ApiProperty({ format: 'uuid', example: '7f0c3b1e-2f4f-4c7e-9d53-5c9a8a6f1b20' }) id!: string;
  @ApiProperty({ example: 'ada@example.com' }) email!: string;
  @ApiProperty({ example: 'Ada Lovelace' }) name!: string;
  @ApiProperty({ example: true }) isOrgAdmin!: boolean;
  @ApiProperty({ format: 'uuid', example: '0b6f9a52-8f5d-4f0e-8a55-2f0d6a1f9c11' }) organizationId!: string;
  @ApiProperty({ example: 'Example Ltd' }) organizationName!: string;
  @ApiProperty({ example: 'example-ltd' }) organizationSlug!: string;
  @ApiProperty({ enum: TIERS, example: 'FREE' }) subscriptionTier!: Tier;
  @ApiProperty({ example: false }) mfaEnabled!: boolean;
}

export class RefreshAnswerDto {
  @ApiProperty({ example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…' }) accessToken!: string;

  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ',
    description: 'new at every refresh: the one that was sent becomes invalid; null: it is in the cookie',
  })
  refreshToken!: string | null;

  @ApiProperty({ example: 'Bearer', enum: ['Bearer'] }) tokenType!: 'Bearer';
  @ApiProperty({ example: 900, description: 'seconds the access token is valid' }) expiresIn!: number;
  @ApiProperty({ example: false, description: 'the access token is valid for /mfa and /auth only' })
  mfaSetupRequired!: boolean;

  @ApiProperty({ type: SignedInUserDto }) user!: SignedInUserDto;
}

/** Always has the same fields: those that do not apply are null or false. */
export class LoginAnswerDto {
  @ApiProperty({ example: false }) mfaRequired!: boolean;
  @ApiProperty({ ...TEXT_OR_NULL, example: null }) mfaChallengeToken!: string | null;
  @ApiProperty({ type: Number, nullable: true, example: null }) mfaChallengeExpiresIn!: number | null;
  @ApiProperty({ example: false }) mfaSetupRequired!: boolean;
  @ApiProperty({ example: false }) passwordExpired!: boolean;
  @ApiProperty({ ...TEXT_OR_NULL, example: null }) passwordChangeToken!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…' })
  accessToken!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ' })
  refreshToken!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'Bearer', enum: ['Bearer', null] })
  tokenType!: 'Bearer' | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 900,
    description: 'seconds the access token is valid',
  })
  expiresIn!: number | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'Zx8cV1bN4mQ7wE2rT5yU9iO3pA6sD0fG1hJ4kL7zX2c',
    description:
      'to be stored and sent with the next sign-in of this device: exempts it from locks caused by others',
  })
  deviceToken!: string | null;
  @ApiProperty({ type: SignedInUserDto, nullable: true }) user!: SignedInUserDto | null;
}
