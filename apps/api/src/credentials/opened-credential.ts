import { DriverError, type DriverCredential } from '#drivers';
import type { SealedCredential } from '#entities';
import { openCredential, SealBrokenError, type MasterKeys } from '#secrets';

/** Decrypts a credential for a call to its provider. @throws DriverError `denied` when it cannot be decrypted */
export function openedCredential(masterKeys: MasterKeys, sealed: SealedCredential): DriverCredential {
  const { credentialType, externalId } = sealed;
  try {
    return { credentialType, externalId, data: openCredential(masterKeys, sealed) };
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error;
    throw new DriverError('denied', 'The stored credential cannot be decrypted');
  }
}
