import { Injectable } from '@nestjs/common';
import { GuardSettings } from './guard-settings';
import { holderOf, isUuid, payloadOf, signer, type TokenHolder } from './signed-tokens';

/** The possible steps between a right password and an access token. */
export type SignInStep = 'mfa-challenge' | 'password-change';

export interface StepClaims extends TokenHolder {
  /** id of the database row of this step */
  readonly id: string;
  /** whether a second factor has been verified */
  readonly mfaPassed: boolean;
  /** of the company sign-in; null: of one by password */
  readonly attemptId: string | null;
}

/** Signs and reads the tokens of the steps before the sign-in is complete. None authorizes a route. */
@Injectable()
export class StepTokens {
  private readonly jwt = signer(this.settings);

  constructor(private readonly settings: GuardSettings) {}

  issue(
    step: SignInStep,
    { userId, organizationId, id, mfaPassed, attemptId }: StepClaims,
    seconds: number,
  ): Promise<string> {
    const claims = { typ: step, sub: userId, org: organizationId, jti: id, mfa: mfaPassed, sso: attemptId };
    return this.jwt.signAsync(claims, { expiresIn: seconds });
  }

  /** @returns null when the token is expired, forged, or of another step */
  async verify(step: SignInStep, token: string): Promise<StepClaims | null> {
    const payload = await payloadOf(this.jwt, this.settings, token);
    const holder = payload && holderOf(payload, [step]);
    if (!holder || typeof payload['jti'] !== 'string') return null;
    const attemptId = isUuid(payload['sso']) ? payload['sso'] : null;
    return { ...holder, id: payload['jti'], mfaPassed: payload['mfa'] === true, attemptId };
  }
}
