import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { TenantStores } from '#tenant-store';
import { newRecoveryCode, recoveryCodeHash } from '#secrets';
import { MfaSecrets, type MfaHolder } from './mfa-secrets';
import { looksLikeTotp, stepOf } from './totp';

const RECOVERY_CODE_COUNT = 8;

/** Verifies second factors. Each code is accepted once. */
@Injectable()
export class MfaCodes {
  constructor(
    private readonly stores: TenantStores,
    private readonly secrets: MfaSecrets,
  ) {}

  /**
   * Consumes an authenticator code or a recovery code within the transaction.
   * @returns false when the code is wrong or was used before
   */
  async consume(tx: Tx, { userId, organizationId }: MfaHolder, code: string): Promise<boolean> {
    const plain = code.replaceAll(/\s/g, '');
    if (!looksLikeTotp(plain)) {
      return this.stores.mfa.takeRecoveryCode(tx, organizationId, userId, recoveryCodeHash(plain));
    }
    const stored = await this.secrets.open(tx, { organizationId, userId });
    if (!stored?.mfaEnabled) return false;
    const step = stepOf(plain, stored.secret);
    return step !== null && this.stores.mfa.takeStep(tx, organizationId, userId, step);
  }

  /** Replaces the recovery codes. Only their hashes are stored. */
  async renewRecoveryCodes(tx: Tx, { userId, organizationId }: MfaHolder): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODE_COUNT }, newRecoveryCode);
    await this.stores.mfa.replaceRecoveryCodes(tx, organizationId, userId, codes.map(recoveryCodeHash));
    return codes;
  }
}
