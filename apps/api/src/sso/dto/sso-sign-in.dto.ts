import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { DEVICE_TOKEN } from '../../auth/dto/credentials.dto';
import { RefreshTokenIn, type RefreshTokenPlace } from '../../auth/dto/refresh-token-place';
import { id, MayBeAbsent, opaque, Optional, Required, string } from '../../http/fields';
import { RETURN_PLACE } from '../return-place';

const EXAMPLE_ID = '6f1c9a52-8f5d-4f0e-8a55-2f0d6a1f9c11';
const CHALLENGE = /^[\w-]{43}$/;

export class OfferedProviderDto {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_ID }) id!: string;
  @ApiProperty({ example: 'Example directory' }) name!: string;
}

export class OfferedProvidersDto {
  @ApiProperty({ type: [OfferedProviderDto], description: 'by name; empty: people sign in with a password' })
  items!: OfferedProviderDto[];
}

export class StartSsoDto {
  @MayBeAbsent(id(), { example: EXAMPLE_ID, description: 'left out: the only one' })
  provider?: string;

  @Required(string(Matches(CHALLENGE, { message: 'must be the base64url SHA-256 of the verifier' })), {
    example: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    description: 'base64url SHA-256 of a secret `verifier`, which POST /auth/sso/complete demands',
  })
  challenge!: string;

  @Required(
    string(Matches(RETURN_PLACE, { message: 'must be console, code or a port from 1024 to 65535' })),
    {
      example: '49152',
      description:
        'where the one-time code goes: `console`, its sign-in; `code`, a page that shows it; a port, ' +
        '`http://127.0.0.1:<port>/callback?code=…`. An error goes there as `error` and `message`.',
    },
  )
  returnTo!: string;
}

export class CompleteSsoDto {
  @Required(opaque(1, 200), {
    example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ',
    description: 'valid for 60 seconds and one request',
  })
  code!: string;

  @Required(opaque(43, 128), {
    example: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    description: 'of the client that began the sign-in, whose `challenge` is its base64url SHA-256',
  })
  verifier!: string;

  @Optional(DEVICE_TOKEN)
  deviceToken?: string | null;

  @RefreshTokenIn()
  refreshTokenIn?: RefreshTokenPlace;
}
