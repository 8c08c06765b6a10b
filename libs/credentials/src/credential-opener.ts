import { DriverError, type DriverCredential } from '#drivers';
import type { SealedCredential } from '#entities';
import { openCredential, SealBrokenError, type MasterKeys } from '#secrets';
import type { Identities } from './identities';

/** Decrypts credentials for calls to their provider. */
export class CredentialOpener {
  constructor(
    private readonly masterKeys: MasterKeys,
    private readonly identities: Identities,
  ) {}

  /** @throws DriverError `denied` when it cannot be decrypted */
  open(sealed: SealedCredential): DriverCredential {
    const { credentialType, externalId } = sealed;
    try {
      const data = openCredential(this.masterKeys, sealed);
      return { credentialType, externalId, data, identity: this.identities.tokensOf(sealed) };
    } catch (error) {
      if (!(error instanceof SealBrokenError)) throw error;
      throw new DriverError('denied', 'The stored credential cannot be decrypted');
    }
  }
}
