import { Injectable } from '@nestjs/common';
import { toBuffer } from 'qrcode';
import { AuditStore, Database, MfaStore, RefreshTokenStore, type AuditEventType, type Tx } from '#entities';
import type { Principal } from '#guards';
import { MasterKeys, openMfaSecret, sealMfaSecret } from '#secrets';
import { auditActor } from '../audit/audit-actor';
import { LockOut, signedInKey } from '../auth/lock-out';
import { DataKeys } from '../credentials/data-keys';
import { badRequest, conflict, type ApiError } from '../errors';
import { MfaCodes } from './mfa-codes';
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
    private readonly codes: MfaCodes,
    private readonly refreshTokens: RefreshTokenStore,
    private readonly audit: AuditStore,
    private readonly dataKeys: DataKeys,
    private readonly masterKeys: MasterKeys,
    private readonly lockOut: LockOut,
  ) {}

  /** A new secret, worth nothing until it is confirmed. @throws ApiError 409 when MFA is on */
  async setUp({ userId, organizationId, email }: Principal): Promise<MfaSetup> {
    const enrolment = newEnrolment(email);
    const dataKey = await this.dataKeys.of(organizationId);
    const sealed = sealMfaSecret(this.masterKeys, dataKey, userId, enrolment.secret);
    const begun = await this.mfa.begin(this.database.autocommit, organizationId, userId, sealed);
    if (!begun) throw isOn();
    return { ...enrolment, qrCode: await toBuffer(enrolment.otpauthUrl) };
  }

  /**
   * Turns MFA on and ends the user's other sign-ins, which were made without it.
   * @returns recovery codes
   * @throws ApiError 400 before set-up or when the code is wrong; 409 when MFA is on
   */
  async confirm(principal: Principal, code: string, callerAddress: string | null): Promise<string[]> {
    const { userId, organizationId } = principal;
    if (principal.mfaEnabled) throw isOn();
    const stored = await this.mfa.secret(this.database.autocommit, organizationId, userId);
    if (!stored) throw badRequest('There is nothing to confirm: call POST /mfa/setup first');
    const { sealedSecret } = stored;
    const secret = openMfaSecret(this.masterKeys, stored.dataKey, userId, sealedSecret);
    return this.withCode(principal, 'MFA_ENABLED', callerAddress, async (tx) => {
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
    await this.withCode(principal, 'MFA_DISABLED', callerAddress, async (tx) => {
      if (!(await this.codes.take(tx, principal, code))) return null;
      // required or turned off since it was asked
      if (!(await this.mfa.disable(tx, organizationId, userId))) throw isRequired();
      return true;
    });
  }

  /** @returns the new recovery codes; the old ones are worth nothing. @throws ApiError 400 when MFA is off or the code is wrong */
  async regenerate(principal: Principal, code: string, callerAddress: string | null): Promise<string[]> {
    if (!principal.mfaEnabled) throw isOff();
    return this.withCode(principal, 'MFA_RECOVERY_CODES_REGENERATED', callerAddress, async (tx) =>
      (await this.codes.take(tx, principal, code)) ? this.codes.renewRecoveryCodes(tx, principal) : null,
    );
  }

  /**
   * Does and records what needs a code.
   * @param work returns null when the code is wrong
   */
  private async withCode<T>(
    principal: Principal,
    eventType: AuditEventType,
    callerAddress: string | null,
    work: (tx: Tx) => Promise<T | null>,
  ): Promise<T> {
    const attempt = await this.lockOut.attempt(signedInKey(principal.userId));
    const record = {
      ...auditActor(principal, callerAddress),
      eventType,
      resourceType: 'USER',
      resourceId: principal.userId,
      resourceName: principal.email,
    };
    const done = await this.database.transaction(async (tx) => {
      const result = await work(tx);
      if (result !== null) await this.audit.write(tx, principal.organizationId, record);
      return result;
    });
    if (done !== null) {
      await this.lockOut.succeeded(attempt);
      return done;
    }
    const errorMessage = 'The code is wrong or was used before';
    const failure = { ...record, result: 'FAILURE', errorMessage } as const;
    await this.audit.write(this.database.autocommit, principal.organizationId, failure);
    throw wrongCode();
  }
}

const isOn = (): ApiError => conflict('MFA is on already: disable it first to set it up anew');
const isOff = (): ApiError => badRequest('MFA is not on: set it up with POST /mfa/setup');
const isRequired = (): ApiError => badRequest('Your organization requires MFA, so it cannot be disabled');
const wrongCode = (): ApiError =>
  badRequest('The code is wrong or was used before: wait for the next one', {
    code: 'is wrong or was used before',
  });
