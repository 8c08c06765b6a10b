import { Injectable } from '@nestjs/common';
import { MfaStore, type Tx } from '#entities';
import type { OrganizationId } from '#rules';
import { MasterKeys, newRecoveryCode, openMfaSecret, recoveryCodeHash } from '#secrets';
import { looksLikeTotp, stepOf } from './totp';

const RECOVERY_CODES = 8;

interface Holder {
  readonly userId: string;
  readonly organizationId: OrganizationId;
}

/** Checks second factors: each code is taken once. */
@Injectable()
export class MfaCodes {
  constructor(
    private readonly mfa: MfaStore,
    private readonly masterKeys: MasterKeys,
  ) {}

  /**
   * Takes an authenticator's code or uses a recovery code up, for as long as `tx` is committed.
   * @returns false when the code is wrong or was taken before
   */
  async take(tx: Tx, { userId, organizationId }: Holder, code: string): Promise<boolean> {
    const plain = code.replaceAll(/\s/g, '');
    if (!looksLikeTotp(plain)) {
      return this.mfa.takeRecoveryCode(tx, organizationId, userId, recoveryCodeHash(plain));
    }
    const stored = await this.mfa.secret(tx, organizationId, userId);
    if (!stored?.mfaEnabled) return false;
    const step = stepOf(plain, openMfaSecret(this.masterKeys, stored.dataKey, userId, stored.sealedSecret));
    return step !== null && this.mfa.takeStep(tx, organizationId, userId, step);
  }

  /** New recovery codes in place of the old ones: the one time they are seen. */
  async renewRecoveryCodes(tx: Tx, { userId, organizationId }: Holder): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await this.mfa.replaceRecoveryCodes(tx, organizationId, userId, codes.map(recoveryCodeHash));
    return codes;
  }
}
