import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsEmail, IsNotEmpty, IsOptional, IsString, Length, MaxLength } from 'class-validator';
import { asEmail, HasNoHiddenCharacters, trimmed } from '../../http/text-fields';

const NEW_PASSWORD = {
  example: 'Correct horse battery staple 9',
  format: 'password',
  maxLength: 128,
  description: 'must satisfy the organization’s password policy',
} as const;

export class ChangePasswordDto {
  @ApiProperty({ example: 'correct horse battery staple', format: 'password' })
  @Length(1, 1000, { message: 'currentPassword must have 1 to 1000 characters' })
  @IsString({ message: 'currentPassword must be a text' })
  currentPassword!: string;

  @ApiProperty(NEW_PASSWORD)
  @Length(1, 1000, { message: 'newPassword must have 1 to 1000 characters' })
  @IsString({ message: 'newPassword must be a text' })
  newPassword!: string;
}

export class ChangeExpiredPasswordDto {
  @ApiProperty({
    example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…',
    description: 'from the response to the sign-in',
  })
  @Length(1, 2000, { message: 'passwordChangeToken must have 1 to 2000 characters' })
  @IsString({ message: 'passwordChangeToken must be a text' })
  passwordChangeToken!: string;

  @ApiProperty(NEW_PASSWORD)
  @Length(1, 1000, { message: 'newPassword must have 1 to 1000 characters' })
  @IsString({ message: 'newPassword must be a text' })
  newPassword!: string;
}

export class ForgotPasswordDto {
  @ApiProperty({ example: 'ada@example.com', format: 'email' })
  @asEmail()
  @IsEmail({}, { message: 'email must be a well-formed e-mail address' })
  email!: string;

  @ApiPropertyOptional({
    example: 'example-ltd',
    description: 'left out: one link is sent for each organization with this e-mail',
  })
  @IsOptional()
  @trimmed()
  @MaxLength(200, { message: 'organizationSlug must have at most 200 characters' })
  @HasNoHiddenCharacters('organizationSlug ')
  @IsString({ message: 'organizationSlug must be a text' })
  organizationSlug?: string;
}

export class ResetPasswordDto {
  @ApiProperty({
    example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ',
    description: 'the last part of the mailed link',
  })
  @Length(1, 200, { message: 'token must have 1 to 200 characters' })
  @IsString({ message: 'token must be a text' })
  token!: string;

  @ApiProperty(NEW_PASSWORD)
  @Length(1, 1000, { message: 'newPassword must have 1 to 1000 characters' })
  @IsString({ message: 'newPassword must be a text' })
  newPassword!: string;
}

export class SetPasswordDto {
  @ApiProperty({
    example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ',
    description: 'the last part of the invitation link',
  })
  @Length(1, 200, { message: 'inviteToken must have 1 to 200 characters' })
  @IsString({ message: 'inviteToken must be a text' })
  inviteToken!: string;

  @ApiProperty(NEW_PASSWORD)
  @Length(1, 1000, { message: 'password must have 1 to 1000 characters' })
  @IsString({ message: 'password must be a text' })
  password!: string;

  @ApiPropertyOptional({ example: 'Ada Lovelace', maxLength: 200, description: 'left out: as invited' })
  @IsOptional()
  @trimmed()
  @MaxLength(200, { message: 'name must have at most 200 characters' })
  @IsNotEmpty({ message: 'name must not be blank' })
  @HasNoHiddenCharacters('name ')
  @IsString({ message: 'name must be a text' })
  name?: string;
}
