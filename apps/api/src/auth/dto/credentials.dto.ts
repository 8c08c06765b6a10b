import { IsEmail, IsNotEmpty, IsString, MaxLength, MinLength } from 'class-validator';
import { email, opaque, Optional, Required, type Kind } from '../../http/fields';
import { RefreshTokenIn, type RefreshTokenPlace } from './refresh-token-place';
import { asEmail, composed, HasNoHiddenCharacters, trimmed } from '../../http/text-fields';

const hint = (message: string): { message: string } => ({ message });

/** Any text of at most 200 characters without hidden ones, trimmed. */
export const NAME: Kind = {
  checks: [
    IsString(hint('must be a text')),
    HasNoHiddenCharacters(),
    MaxLength(200, hint('must have at most 200 characters')),
    trimmed(),
    composed(),
  ],
  doc: { type: String },
};

export const NAME_NOT_BLANK: Kind = {
  checks: [...NAME.checks, IsNotEmpty(hint('must not be blank'))],
  doc: { type: String, maxLength: 200 },
};

/** Of an account that may exist: what cannot be registered today may have been. */
export const KNOWN_EMAIL: Kind = {
  checks: [IsEmail({}, hint('must be a well-formed e-mail address')), asEmail()],
  doc: { format: 'email', example: 'ada@example.com' },
};

/** The token returned by this device's last sign-in. An unknown token has no effect. */
export const DEVICE_TOKEN: Kind = {
  checks: [IsString(hint('must be a text')), MaxLength(200, hint('must have at most 200 characters'))],
  doc: {
    type: String,
    nullable: true,
    example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ',
    description: 'from the response to this device’s last sign-in: exempts it from locks caused by others',
  },
};

export class RegisterDto {
  @Required(NAME_NOT_BLANK, { example: 'Example Ltd', minLength: 1 })
  organizationName!: string;

  @Required(email(), { example: 'ada@example.com' })
  email!: string;

  @Required(opaque(8, 128), {
    example: 'correct horse battery staple',
    minLength: 8,
    maxLength: 128,
    format: 'password',
  })
  password!: string;

  @Optional(NAME_NOT_BLANK, {
    example: 'Ada Lovelace',
    description: 'left out: the local part of the e-mail',
  })
  name?: string;

  @RefreshTokenIn()
  refreshTokenIn?: RefreshTokenPlace;
}

export class LoginDto {
  @Optional(NAME, {
    example: 'example-ltd',
    description:
      'needed when e-mail and password match several organizations, or more than three organizations know the e-mail',
  })
  organizationSlug?: string;

  @Required(KNOWN_EMAIL)
  email!: string;

  @Required(opaque(1, 1000), { example: 'correct horse battery staple', format: 'password' })
  password!: string;

  @Optional(DEVICE_TOKEN)
  deviceToken?: string | null;

  @RefreshTokenIn()
  refreshTokenIn?: RefreshTokenPlace;
}

/** No maximum length: an overlong token is invalid (401), and the body size is limited. */
const REFRESH_TOKEN: Kind = {
  checks: [IsString(hint('must be a text')), MinLength(1, hint('must not be empty'))],
  doc: { example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ' },
};

export class LogoutDto {
  @Required(REFRESH_TOKEN, { required: false, description: 'left out: that of the cookie' })
  refreshToken!: string;
}

export class RefreshDto extends LogoutDto {
  @RefreshTokenIn()
  refreshTokenIn?: RefreshTokenPlace;
}

export class VerifyMfaDto {
  @Required(opaque(1, 2000), {
    example: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9…',
    description: 'from the response to the sign-in',
  })
  mfaChallengeToken!: string;

  @Required(opaque(1, 100), {
    example: '492039',
    description: 'an authenticator code or a recovery code; each is accepted once',
  })
  code!: string;

  @Optional(DEVICE_TOKEN)
  deviceToken?: string | null;

  @RefreshTokenIn()
  refreshTokenIn?: RefreshTokenPlace;
}
