import { opaque, Optional, Required } from '../../http/fields';
import { RefreshTokenIn, type RefreshTokenPlace } from './refresh-token-place';
import { KNOWN_EMAIL, NAME, NAME_NOT_BLANK } from './credentials.dto';

const NEW_PASSWORD = {
  example: 'Correct horse battery staple 9',
  format: 'password',
  maxLength: 128,
  description: 'must satisfy the organization’s password policy',
} as const;

export const LINK_TOKEN = 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ';

export class ChangePasswordDto {
  @Required(opaque(1, 1000), { example: 'correct horse battery staple', format: 'password' })
  currentPassword!: string;

  @Required(opaque(1, 1000), NEW_PASSWORD)
  newPassword!: string;
}

export class ChangeExpiredPasswordDto {
  @Required(opaque(1, 2000), {
    example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…',
    description: 'from the response to the sign-in',
  })
  passwordChangeToken!: string;

  @Required(opaque(1, 1000), NEW_PASSWORD)
  newPassword!: string;

  @RefreshTokenIn()
  refreshTokenIn?: RefreshTokenPlace;
}

export class ForgotPasswordDto {
  @Required(KNOWN_EMAIL)
  email!: string;

  @Optional(NAME, {
    example: 'example-ltd',
    description: 'left out: one link is sent for each organization with this e-mail',
  })
  organizationSlug?: string;
}

export class ResetPasswordDto {
  @Required(opaque(1, 200), { example: LINK_TOKEN, description: 'the last part of the mailed link' })
  token!: string;

  @Required(opaque(1, 1000), NEW_PASSWORD)
  newPassword!: string;

  @RefreshTokenIn()
  refreshTokenIn?: RefreshTokenPlace;
}

export class SetPasswordDto {
  @Required(opaque(1, 200), { example: LINK_TOKEN, description: 'the last part of the invitation link' })
  inviteToken!: string;

  @Required(opaque(1, 1000), NEW_PASSWORD)
  password!: string;

  @Optional(NAME_NOT_BLANK, { example: 'Ada Lovelace', description: 'left out: as invited' })
  name?: string;

  @RefreshTokenIn()
  refreshTokenIn?: RefreshTokenPlace;
}
