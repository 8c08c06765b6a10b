import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { GuardSettings } from './guard-settings';
import type { Principal } from './principal';

export const TOKEN_ALGORITHM = 'HS256';
export const TOKEN_ISSUER = 'drawbridge';
export const TOKEN_AUDIENCE = 'drawbridge-api';
const ACCESS = 'access';

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** What an access token is believed about: who. What they may do is read from the database. */
export interface AccessClaims {
  readonly userId: string;
  readonly organizationId: string;
}

export interface IssuedToken {
  readonly accessToken: string;
  /** seconds */
  readonly expiresIn: number;
}

/** @returns null when the payload is not that of an access token: other tokens are signed with the same key */
export function readAccessClaims(payload: Record<string, unknown>): AccessClaims | null {
  const { typ, sub, org } = payload;
  if (typ !== ACCESS || typeof sub !== 'string' || typeof org !== 'string') return null;
  return UUID.test(sub) && UUID.test(org) ? { userId: sub, organizationId: org } : null;
}

/** Signs and reads access tokens. */
@Injectable()
export class AccessTokens {
  private readonly jwt: JwtService;

  constructor(private readonly settings: GuardSettings) {
    this.jwt = new JwtService({
      secret: settings.jwtKey,
      signOptions: {
        algorithm: TOKEN_ALGORITHM,
        issuer: TOKEN_ISSUER,
        audience: TOKEN_AUDIENCE,
        expiresIn: settings.accessTokenTtlSeconds,
      },
      verifyOptions: { algorithms: [TOKEN_ALGORITHM], issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE },
    });
  }

  /** A token for a signed-in user. Its roles are for the client to read; the service does not rely on them. */
  async issue(principal: Principal): Promise<IssuedToken> {
    const accessToken = await this.jwt.signAsync({
      typ: ACCESS,
      sub: principal.userId,
      org: principal.organizationId,
      roles: principal.isOrgAdmin ? ['USER', 'ORG_ADMIN'] : ['USER'],
      platformRole: principal.platformRole,
    });
    return { accessToken, expiresIn: this.settings.accessTokenTtlSeconds };
  }

  /** @returns null when the token is expired, forged, or no access token */
  async verify(token: string): Promise<AccessClaims | null> {
    try {
      return readAccessClaims(await this.jwt.verifyAsync<Record<string, unknown>>(token));
    } catch {
      // which of a token's many faults it was is nothing to tell its bearer
      return null;
    }
  }
}
