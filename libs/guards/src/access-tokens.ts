import { Injectable } from '@nestjs/common';
import { GuardSettings } from './guard-settings';
import type { Principal, SignIn } from './principal';
import { holderOf, isUuid, payloadOf, signer, type TokenHolder } from './signed-tokens';

const ACCESS = 'access';
/** issued for a sign-in without the second factor that the organization requires */
const MFA_SETUP = 'mfa-setup';

/** The trusted claims of an access token: user and sign-in. Permissions are read from the database. */
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
  private readonly jwt = signer(this.settings);

  constructor(private readonly settings: GuardSettings) {}

  /**
   * Issues a token for a signed-in user. Its roles are informational for clients; the service does not use them.
   * @param secondsLeft until the sign-in ends; the token expires no later
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

  /** @returns null when the token is expired, forged, or not an access token */
  async verify(token: string): Promise<AccessClaims | null> {
    const payload = await payloadOf(this.jwt, this.settings, token);
    return payload && readAccessClaims(payload);
  }
}
