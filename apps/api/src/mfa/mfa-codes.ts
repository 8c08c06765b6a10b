import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { MfaStore } from '#tenant-store';
import { newRecoveryCode, recoveryCodeHash } from '#secrets';
import { MfaSecrets, type MfaHolder } from './mfa-secrets';
import { looksLikeTotp, stepOf } from './totp';

const RECOVERY_CODES = 8;

/** Checks second factors: each code is taken once. */
@Injectable()
export class MfaCodes {
  constructor(
    private readonly mfa: MfaStore,
    private readonly secrets: MfaSecrets,
  ) {}

  /**
   * Takes an authenticator's code or uses a recovery code up, for as long as `tx` is committed.
   * @returns false when the code is wrong or was taken before
   */
  async take(tx: Tx, { userId, organizationId }: MfaHolder, code: string): Promise<boolean> {
    const plain = code.replaceAll(/\s/g, '');
    if (!looksLikeTotp(plain)) {
      return this.mfa.takeRecoveryCode(tx, organizationId, userId, recoveryCodeHash(plain));
    }
    const stored = await this.secrets.opened(tx, { organizationId, userId });
    if (!stored?.mfaEnabled) return false;
    const step = stepOf(plain, stored.secret);
    return step !== null && this.mfa.takeStep(tx, organizationId, userId, step);
  }

  /** New recovery codes in place of the old ones: the one time they are seen. */
  async renewRecoveryCodes(tx: Tx, { userId, organizationId }: MfaHolder): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await this.mfa.replaceRecoveryCodes(tx, organizationId, userId, codes.map(recoveryCodeHash));
    return codes;
  }
}
