import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { MfaStore, RefreshTokenStore } from '#tenant-store';
import type { Principal } from '#guards';
import { badRequest, conflict, notPossible, type ApiError } from '../errors';
import { MfaCodes } from './mfa-codes';
import { MfaSecrets } from './mfa-secrets';
import { ProvenActions } from './proven-actions';
import { qrCodePng } from './qr-code';
import { newEnrolment, stepOf, type Enrolment } from './totp';

export interface MfaSetup extends Enrolment {
  /** PNG */
  readonly qrCode: Buffer;
}

/** A user's own second factor: set up, turned off, recovery codes. */
@Injectable()
export class MfaService {
  constructor(
    private readonly database: Database,
    private readonly mfa: MfaStore,
    private readonly secrets: MfaSecrets,
    private readonly codes: MfaCodes,
    private readonly refreshTokens: RefreshTokenStore,
    private readonly deeds: ProvenActions,
  ) {}

  /** A new secret, worth nothing until it is confirmed. @throws ApiError 409 when MFA is on */
  async setUp({ userId, organizationId, email }: Principal): Promise<MfaSetup> {
    const enrolment = newEnrolment(email);
    if (!(await this.secrets.begin({ userId, organizationId }, enrolment.secret))) throw isOn();
    return { ...enrolment, qrCode: qrCodePng(enrolment.otpauthUrl) };
  }

  /**
   * Turns MFA on and ends the user's other sign-ins, which were made without it.
   * @returns recovery codes
   * @throws ApiError 400 before set-up or when the code is wrong; 409 when MFA is on
   */
  async confirm(principal: Principal, code: string, callerAddress: string | null): Promise<string[]> {
    const { userId, organizationId } = principal;
    if (principal.mfaEnabled) throw isOn();
    const stored = await this.secrets.opened(this.database.autocommit, principal);
    if (!stored) throw badRequest('There is nothing to confirm: call POST /mfa/setup first');
    const { secret, sealedSecret } = stored;
    return this.deeds.withCode(principal, 'MFA_ENABLED', callerAddress, async (tx) => {
      const step = stepOf(code.replaceAll(/\s/g, ''), secret);
      if (step === null) return null;
      if (!(await this.mfa.enable(tx, organizationId, userId, { sealedSecret, step }))) throw isOn();
      await this.refreshTokens.revokeAllBut(tx, userId, principal.signIn?.id ?? null);
      return this.codes.renewRecoveryCodes(tx, principal);
    });
  }

  /** @throws ApiError 400 when the organization requires MFA, MFA is off, or the code is wrong */
  async disable(principal: Principal, code: string, callerAddress: string | null): Promise<void> {
    const { userId, organizationId } = principal;
    if (!principal.mfaEnabled) throw isOff();
    if (await this.mfa.isRequired(this.database.autocommit, organizationId)) throw isRequired();
    await this.deeds.withCode(principal, 'MFA_DISABLED', callerAddress, async (tx) => {
      if (!(await this.codes.take(tx, principal, code))) return null;
      // required or turned off since it was asked
      if (!(await this.mfa.disable(tx, organizationId, userId))) throw isRequired();
      return true;
    });
  }

  /** @returns the new recovery codes; the old ones are worth nothing. @throws ApiError 400 when MFA is off or the code is wrong */
  async regenerate(principal: Principal, code: string, callerAddress: string | null): Promise<string[]> {
    if (!principal.mfaEnabled) throw isOff();
    return this.deeds.withCode(principal, 'MFA_RECOVERY_CODES_REGENERATED', callerAddress, async (tx) =>
      (await this.codes.take(tx, principal, code)) ? this.codes.renewRecoveryCodes(tx, principal) : null,
    );
  }
}

const isOn = (): ApiError => conflict('MFA is on already: disable it first to set it up anew');
const isOff = (): ApiError => notPossible('MFA is not on: set it up with POST /mfa/setup');
const isRequired = (): ApiError => notPossible('Your organization requires MFA, so it cannot be disabled');
