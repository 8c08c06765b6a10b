import { DriverError, DriverRegistry, type DriverCredential } from '#drivers';
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
    const { provider, credentialType, externalId, account } = sealed;
    try {
      const fields = openCredential(this.masterKeys, sealed);
      const { account: shape } = DriverRegistry.facts(provider).credentialTypes[credentialType] ?? {};
      const data = account === null || !shape ? fields : shape.fill(fields, account);
      return { credentialType, externalId, data, identity: this.identities.tokensOf(sealed) };
    } catch (error) {
      if (!(error instanceof SealBrokenError)) throw error;
      throw new DriverError('denied', 'The stored credential cannot be decrypted');
    }
  }
}
