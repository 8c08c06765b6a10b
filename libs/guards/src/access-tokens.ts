import { Injectable } from '@nestjs/common';
import type { JwtService } from '@nestjs/jwt';
import { GuardSettings } from './guard-settings';
import type { Principal, SignIn } from './principal';
import { holderOf, isUuid, payloadOf, signer, type TokenHolder } from './signed-tokens';

const ACCESS = 'access';
/** of who signed in without the second factor that the organization asks for */
const MFA_SETUP = 'mfa-setup';

/** What an access token is believed about: who, and how they signed in. What they may do is read from the database. */
export interface AccessClaims extends TokenHolder {
  readonly signIn: SignIn;
}

export interface IssuedToken {
  readonly accessToken: string;
  /** seconds */
  readonly expiresIn: number;
}

/** @returns null when the payload is not that of an access token */
export function readAccessClaims(payload: Record<string, unknown>): AccessClaims | null {
  const holder = holderOf(payload, [ACCESS, MFA_SETUP]);
  if (!holder || !isUuid(payload['sid'])) return null;
  return { ...holder, signIn: { id: payload['sid'], mfaSetupOnly: payload['typ'] === MFA_SETUP } };
}

/** Signs and reads access tokens. */
@Injectable()
export class AccessTokens {
  private readonly jwt: JwtService;

  constructor(private readonly settings: GuardSettings) {
    this.jwt = signer(settings);
  }

  /**
   * A token for a signed-in user. Its roles are for the client to read; the service does not rely on them.
   * @param secondsLeft until the sign-in ends, and the token with it
   */
  async issue(principal: Principal, signIn: SignIn, secondsLeft = Infinity): Promise<IssuedToken> {
    const expiresIn = Math.max(1, Math.floor(Math.min(this.settings.accessTokenTtlSeconds, secondsLeft)));
    const accessToken = await this.jwt.signAsync(
      {
        typ: signIn.mfaSetupOnly ? MFA_SETUP : ACCESS,
        sub: principal.userId,
        org: principal.organizationId,
        sid: signIn.id,
        roles: principal.isOrgAdmin ? ['USER', 'ORG_ADMIN'] : ['USER'],
        platformRole: principal.platformRole,
      },
      { expiresIn },
    );
    return { accessToken, expiresIn };
  }

  /** @returns null when the token is expired, forged, or no access token */
  async verify(token: string): Promise<AccessClaims | null> {
    const payload = await payloadOf(this.jwt, this.settings, token);
    return payload && readAccessClaims(payload);
  }
}
