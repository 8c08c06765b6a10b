import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsEmail, IsNotEmpty, IsOptional, IsString, Length, MaxLength, MinLength } from 'class-validator';
import { asEmail, HasNoHiddenCharacters, HasOnlyVisibleCharacters, trimmed } from '../../http/text-fields';

// of a property's checks, the one nearest to it is evaluated first

/** Property decorator: the token returned by this device's last sign-in. An unknown token has no effect. */
const DeviceTokenField = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: String,
      nullable: true,
      example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ',
      description: 'from the response to this device’s last sign-in: exempts it from locks caused by others',
    }),
    IsOptional(),
    // inside applyDecorators, the first check is evaluated first
    IsString({ message: 'deviceToken must be a text' }),
    MaxLength(200, { message: 'deviceToken must have at most 200 characters' }),
  );

export class RegisterDto {
  @ApiProperty({ example: 'Example Ltd', minLength: 1, maxLength: 200 })
  @trimmed()
  @MaxLength(200, { message: 'organizationName must have at most 200 characters' })
  @IsNotEmpty({ message: 'organizationName must not be blank' })
  @HasNoHiddenCharacters('organizationName ')
  @IsString({ message: 'organizationName must be a text' })
  organizationName!: string;

  @ApiProperty({ example: 'ada@example.com', format: 'email' })
  @asEmail()
  @HasOnlyVisibleCharacters()
  @IsEmail({}, { message: 'email must be a well-formed e-mail address' })
  email!: string;

  @ApiProperty({ example: 'correct horse battery staple', minLength: 8, maxLength: 128, format: 'password' })
  @Length(8, 128, { message: 'password must have 8 to 128 characters' })
  @IsString({ message: 'password must be a text' })
  password!: string;

  @ApiPropertyOptional({
    example: 'Ada Lovelace',
    maxLength: 200,
    description: 'left out: the local part of the e-mail',
  })
  @IsOptional()
  @trimmed()
  @MaxLength(200, { message: 'name must have at most 200 characters' })
  @IsNotEmpty({ message: 'name must not be blank' })
  @HasNoHiddenCharacters('name ')
  @IsString({ message: 'name must be a text' })
  name?: string;
}

export class LoginDto {
  @ApiPropertyOptional({
    example: 'example-ltd',
    description: 'needed only when e-mail and password match several organizations',
  })
  @IsOptional()
  @trimmed()
  @MaxLength(200, { message: 'organizationSlug must have at most 200 characters' })
  @HasNoHiddenCharacters('organizationSlug ')
  @IsString({ message: 'organizationSlug must be a text' })
  organizationSlug?: string;

  @ApiProperty({ example: 'ada@example.com', format: 'email' })
  @asEmail()
  @IsEmail({}, { message: 'email must be a well-formed e-mail address' })
  email!: string;

  @ApiProperty({ example: 'correct horse battery staple', format: 'password' })
  @Length(1, 1000, { message: 'password must have 1 to 1000 characters' })
  @IsString({ message: 'password must be a text' })
  password!: string;

  @DeviceTokenField()
  deviceToken?: string | null;
}

export class RefreshTokenDto {
  @ApiProperty({ example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ' })
  // no maximum length: an overlong token is invalid (401), and the body size is limited
  @MinLength(1, { message: 'refreshToken must not be empty' })
  @IsString({ message: 'refreshToken must be a text' })
  refreshToken!: string;
}

export class VerifyMfaDto {
  @ApiProperty({
    example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…',
    description: 'from the response to the sign-in',
  })
  @Length(1, 2000, { message: 'mfaChallengeToken must have 1 to 2000 characters' })
  @IsString({ message: 'mfaChallengeToken must be a text' })
  mfaChallengeToken!: string;

  @ApiProperty({
    example: '492039',
    description: 'an authenticator code or a recovery code; each is accepted once',
  })
  @Length(1, 100, { message: 'code must have 1 to 100 characters' })
  @IsString({ message: 'code must be a text' })
  code!: string;

  @DeviceTokenField()
  deviceToken?: string | null;
}
