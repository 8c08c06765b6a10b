import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { badRequest, conflict, notPossible, type ApiError } from '../errors';
import type { Actor } from '../http/actor';
import { MfaCodes } from './mfa-codes';
import { MfaSecrets } from './mfa-secrets';
import { CodeProtectedActions } from './code-protected-actions';
import { qrCodePng } from './qr-code';
import { newEnrolment, stepOf, type Enrolment } from './totp';

export interface MfaSetup extends Enrolment {
  /** PNG */
  readonly qrCode: Buffer;
}

/** The caller's own second factor: setup, disabling, recovery codes. */
@Injectable()
export class MfaService {
  constructor(
    private readonly stores: Tenants,
    private readonly secrets: MfaSecrets,
    private readonly codes: MfaCodes,
    private readonly protectedActions: CodeProtectedActions,
  ) {}

  /** Creates a secret, which has no effect until it is confirmed. @throws ApiError 409 when MFA is enabled */
  async setUp({ userId, organizationId, email }: Principal): Promise<MfaSetup> {
    const enrolment = newEnrolment(email);
    if (!(await this.secrets.begin({ userId, organizationId }, enrolment.secret))) throw isOn();
    return { ...enrolment, qrCode: qrCodePng(enrolment.otpauthUrl) };
  }

  /**
   * Enables MFA and ends the user's other sign-ins, which were made without it.
   * @returns recovery codes
   * @throws ApiError 400 before the setup or when the code is wrong; 409 when MFA is enabled
   */
  async confirm(actor: Actor, code: string): Promise<string[]> {
    const { principal } = actor;
    const { userId, organizationId } = principal;
    if (principal.mfaEnabled) throw isOn();
    const stored = await this.secrets.open(this.stores.autocommit, principal);
    if (!stored) throw badRequest('There is nothing to confirm: call POST /mfa/setup first');
    const { secret, sealedSecret } = stored;
    return this.protectedActions.withCode(actor, 'MFA_ENABLED', async (tx) => {
      const step = stepOf(code.replaceAll(/\s/g, ''), secret);
      if (step === null) return null;
      if (!(await this.stores.mfa.enable(tx, organizationId, userId, { sealedSecret, step }))) throw isOn();
      await this.stores.refreshTokens.revokeAllExcept(tx, userId, principal.signIn?.id ?? null);
      return this.codes.renewRecoveryCodes(tx, principal);
    });
  }

  /** @throws ApiError 400 when the organization requires MFA, MFA is disabled, or the code is wrong */
  async disable(actor: Actor, code: string): Promise<void> {
    const { principal } = actor;
    const { userId, organizationId } = principal;
    if (!principal.mfaEnabled) throw isOff();
    const refuseKept = async (tx: Tx): Promise<void> => {
      const keptBy = await this.stores.mfa.findKeeper(tx, organizationId, userId);
      if (keptBy !== null) throw isKept(keptBy);
    };
    // first without a code, of which every try counts
    await refuseKept(this.stores.autocommit);
    await this.protectedActions.withCode(actor, 'MFA_DISABLED', async (tx) => {
      await refuseKept(tx);
      if (!(await this.codes.consume(tx, principal, code))) return null;
      // disabled since the guard's check
      if (!(await this.stores.mfa.disable(tx, organizationId, userId))) throw isOff();
      return true;
    });
  }

  /**
   * @returns the new recovery codes, which replace the old ones
   * @throws ApiError 400 when MFA is disabled or the code is wrong
   */
  async regenerate(actor: Actor, code: string): Promise<string[]> {
    const { principal } = actor;
    if (!principal.mfaEnabled) throw isOff();
    return this.protectedActions.withCode(actor, 'MFA_RECOVERY_CODES_REGENERATED', async (tx) =>
      (await this.codes.consume(tx, principal, code)) ? this.codes.renewRecoveryCodes(tx, principal) : null,
    );
  }

  /**
   * Proves the second factor for the caller's sign-in.
   * @returns until when it counts
   * @throws ApiError 400 when MFA is disabled or the code is wrong
   */
  async stepUp(actor: Actor, code: string): Promise<Date> {
    const { principal } = actor;
    const { organizationId, userId, signIn } = principal;
    if (!principal.mfaEnabled) throw isOff();
    return this.protectedActions.withCode(actor, 'SECOND_FACTOR_PROVEN', async (tx) =>
      (await this.codes.consume(tx, principal, code))
        ? this.stores.mfa.stepUp(tx, organizationId, userId, signIn!.id)
        : null,
    );
  }
}

const isOn = (): ApiError => conflict('MFA is on already: disable it first to set it up anew');
const isOff = (): ApiError => notPossible('MFA is not on: set it up with POST /mfa/setup');
const isKept = (by: 'organization' | 'recovery'): ApiError =>
  notPossible(
    by === 'organization'
      ? 'Your organization requires MFA, so it cannot be disabled'
      : 'You are the recovery administrator, whose MFA cannot be disabled: name another one with PATCH /organization first',
  );
