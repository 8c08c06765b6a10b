import { ApiProperty } from '@nestjs/swagger';
import { MAX_PASSWORD_LENGTH } from '#rules';
import { opaque, Required } from '../../http/fields';
import { LINK_TOKEN } from './password.dto';

export const MIN_PASSWORD_LENGTH = 8;

export class PasswordLinkRequestDto {
  @Required(opaque(1, 200), { example: LINK_TOKEN, description: 'the last part of the link' })
  token!: string;
}

export class PasswordPolicyDto {
  @ApiProperty({ type: 'integer', minimum: MIN_PASSWORD_LENGTH, maximum: MAX_PASSWORD_LENGTH, example: 8 })
  passwordMinLength!: number;
  @ApiProperty({ example: true }) passwordRequireUppercase!: boolean;
  @ApiProperty({ example: true }) passwordRequireLowercase!: boolean;
  @ApiProperty({ example: true }) passwordRequireDigit!: boolean;
  @ApiProperty({ example: false }) passwordRequireSpecialChar!: boolean;
}

export class PasswordLinkUseDto {
  @ApiProperty({
    enum: ['INVITE', 'RESET'],
    example: 'INVITE',
    description: 'INVITE: for POST /auth/set-password; RESET: for POST /auth/reset-password',
  })
  purpose!: 'INVITE' | 'RESET';
  @ApiProperty({ example: 'Example Ltd' }) organizationName!: string;
  @ApiProperty({ example: 'example-ltd' }) organizationSlug!: string;
  @ApiProperty({ example: 'ada@example.com' }) email!: string;
  @ApiProperty({ example: 'Ada Lovelace' }) name!: string;
  @ApiProperty({ type: PasswordPolicyDto }) passwordPolicy!: PasswordPolicyDto;
  @ApiProperty({
    example:
      'The password must have 8 to 128 characters, an upper-case letter, a lower-case letter, a digit.',
    description: 'the policy in words',
  })
  passwordRules!: string;
}
