import { sealedCredentialForConvergence, type Access, type Database, type Lease } from '#entities';
import { DriverError, type CloudTarget, type DriverRegistry, type ProviderDriver } from '#drivers';
import { openCredential, SealBrokenError, type MasterKeys } from '#secrets';
import type { Provider } from '#rules';

/** The way from a cloud object's row to the cloud: its driver, and the credential opened for this one look. */
export class CloudAccess {
  constructor(
    private readonly database: Database,
    private readonly drivers: DriverRegistry,
    private readonly masterKeys: MasterKeys,
    private readonly deployment: string,
  ) {}

  driver(provider: Provider): Promise<ProviderDriver> {
    return this.drivers.driver(provider);
  }

  /** @throws DriverError `denied` when the credential is gone or does not open */
  async open(lease: Lease, access: Access): Promise<CloudTarget> {
    const sealed = await sealedCredentialForConvergence(this.database.autocommit, access.credentialId);
    if (!sealed) throw new DriverError('denied', 'The credential was deleted');
    try {
      return {
        resourceType: lease.resourceType,
        identifier: lease.identifier,
        region: access.region,
        credential: {
          credentialType: sealed.credentialType,
          data: openCredential(this.masterKeys, sealed),
          externalId: sealed.externalId,
        },
        deployment: this.deployment,
      };
    } catch (error) {
      if (error instanceof SealBrokenError)
        throw new DriverError('denied', 'The stored credential cannot be decrypted');
      throw error;
    }
  }
}
