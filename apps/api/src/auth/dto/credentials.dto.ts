import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsEmail, IsNotEmpty, IsOptional, IsString, Length, MaxLength } from 'class-validator';
import { asEmail, trimmed } from '../../http/text-fields';

// of a property's checks the one nearest to it speaks first

export class RegisterDto {
  @ApiProperty({ example: 'Example Ltd', minLength: 1, maxLength: 200 })
  @trimmed()
  @MaxLength(200, { message: 'organizationName must have at most 200 characters' })
  @IsNotEmpty({ message: 'organizationName must not be blank' })
  @IsString({ message: 'organizationName must be a text' })
  organizationName!: string;

  @ApiProperty({ example: 'ada@example.com', format: 'email' })
  @asEmail()
  @IsEmail({}, { message: 'email must be a well-formed e-mail address' })
  email!: string;

  @ApiProperty({ example: 'correct horse battery staple', minLength: 8, maxLength: 128, format: 'password' })
  @Length(8, 128, { message: 'password must have 8 to 128 characters' })
  @IsString({ message: 'password must be a text' })
  password!: string;

  @ApiPropertyOptional({
    example: 'Ada Lovelace',
    maxLength: 200,
    description: 'left out: the e-mail’s first part',
  })
  @IsOptional()
  @trimmed()
  @MaxLength(200, { message: 'name must have at most 200 characters' })
  @IsNotEmpty({ message: 'name must not be blank' })
  @IsString({ message: 'name must be a text' })
  name?: string;
}

export class LoginDto {
  @ApiPropertyOptional({
    example: 'example-ltd',
    description: 'needed only by someone whose e-mail and password fit several organizations',
  })
  @IsOptional()
  @trimmed()
  @MaxLength(200, { message: 'organizationSlug must have at most 200 characters' })
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
}

export class RefreshTokenDto {
  @ApiProperty({ example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ' })
  @Length(1, 200, { message: 'refreshToken must have 1 to 200 characters' })
  @IsString({ message: 'refreshToken must be a text' })
  refreshToken!: string;
}

export class VerifyMfaDto {
  @ApiProperty({ example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…', description: 'what signing in answered' })
  @Length(1, 2000, { message: 'mfaChallengeToken must have 1 to 2000 characters' })
  @IsString({ message: 'mfaChallengeToken must be a text' })
  mfaChallengeToken!: string;

  @ApiProperty({
    example: '492039',
    description: 'of the authenticator, or a recovery code; each is taken once',
  })
  @Length(1, 100, { message: 'code must have 1 to 100 characters' })
  @IsString({ message: 'code must be a text' })
  code!: string;
}
