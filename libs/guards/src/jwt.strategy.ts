import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { IncomingMessage } from 'node:http';
import { Strategy } from 'passport-jwt';
import { readAccessClaims } from './access-tokens';
import { GuardSettings } from './guard-settings';
import { presentedCredential } from './presented-credential';
import { PrincipalLookup, type Principal } from './principal';
import { keyOfToken } from './token-keys';
import { readWorkloadClaims } from './workload-tokens';
import { TOKEN_ALGORITHM, TOKEN_AUDIENCE, TOKEN_ISSUER } from './signed-tokens';

export const BEARER = 'drawbridge-bearer';

/** The token, unless the request presents another kind of credential. */
function bearerToken({ headers }: IncomingMessage): string | null {
  const presented = presentedCredential(headers);
  return presented.kind === 'bearer' ? presented.text : null;
}

/** `Authorization: Bearer …`: verifies the token, then reads its principal. */
@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, BEARER) {
  constructor(
    settings: GuardSettings,
    private readonly lookup: PrincipalLookup,
  ) {
    super({
      // passport-jwt's own extractor backtracks over long headers
      jwtFromRequest: bearerToken,
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
    const workload = readWorkloadClaims(payload);
    if (workload) return this.lookup.ofWorkload(workload);
    const claims = readAccessClaims(payload);
    const principal =
      claims && (await this.lookup.ofUser(claims.userId, claims.organizationId, claims.signIn.id));
    return principal && { ...principal, signIn: claims.signIn };
  }
}
