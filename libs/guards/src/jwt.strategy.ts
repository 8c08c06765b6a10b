import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { readAccessClaims } from './access-tokens';
import { GuardSettings } from './guard-settings';
import { PrincipalLookup, type Principal } from './principal';
import { keyOfToken } from './token-keys';
import { TOKEN_ALGORITHM, TOKEN_AUDIENCE, TOKEN_ISSUER } from './signed-tokens';

export const BEARER = 'drawbridge-bearer';

/** `Authorization: Bearer …`: verifies the token, then reads its principal. */
@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, BEARER) {
  constructor(
    settings: GuardSettings,
    private readonly lookup: PrincipalLookup,
  ) {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKeyProvider: (
        _request: unknown,
        token: string,
        done: (error: unknown, key?: Buffer) => void,
      ) => {
        const key = keyOfToken(settings.tokenKeys, token);
        if (!key) return done(new Error('The token names no key of this service'));
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- jsonwebtoken takes a KeyObject, the types do not know
        return done(null, key as unknown as Buffer);
      },
      algorithms: [TOKEN_ALGORITHM],
      issuer: TOKEN_ISSUER,
      audience: TOKEN_AUDIENCE,
    });
  }

  /** Called by passport after it has verified signature, times, issuer and audience. */
  async validate(payload: Record<string, unknown>): Promise<Principal | null> {
    const claims = readAccessClaims(payload);
    const principal =
      claims && (await this.lookup.ofUser(claims.userId, claims.organizationId, claims.signIn.id));
    return principal && { ...principal, signIn: claims.signIn };
  }
}
