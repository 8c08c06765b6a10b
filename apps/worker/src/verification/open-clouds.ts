import { DriverError, type DriverCredential, type DriverRegistry, type ProviderDriver } from '#drivers';
import { sealedCredentialForConvergence, type Database } from '#entities';
import type { Provider } from '#rules';
import { openCredential, SealBrokenError, type MasterKeys } from '#secrets';

/** Drivers, and credentials opened for one question to a cloud. */
export class OpenClouds {
  constructor(
    private readonly database: Database,
    private readonly drivers: DriverRegistry,
    private readonly masterKeys: MasterKeys,
  ) {}

  driver(provider: Provider): Promise<ProviderDriver> {
    return this.drivers.driver(provider);
  }

  /** @throws DriverError `denied` when the credential is gone or does not open */
  async credential(id: string): Promise<DriverCredential> {
    const sealed = await sealedCredentialForConvergence(this.database.autocommit, id);
    if (!sealed) throw new DriverError('denied', 'The credential was deleted');
    const { credentialType, externalId } = sealed;
    try {
      return { credentialType, externalId, data: openCredential(this.masterKeys, sealed) };
    } catch (error) {
      if (error instanceof SealBrokenError)
        throw new DriverError('denied', 'The stored credential cannot be decrypted');
      throw error;
    }
  }
}

/** @returns what a driver had to say against it, null when nothing. @throws what is no DriverError */
export async function failureOf(question: () => Promise<void>): Promise<DriverError | null> {
  try {
    await question();
    return null;
  } catch (error) {
    if (error instanceof DriverError) return error;
    throw error;
  }
}
