import {
  DriverError,
  type CloudTarget,
  type DriverCredential,
  type DriverRegistry,
  type ProviderDriver,
} from '#drivers';
import { sealedCredentialForConvergence } from '#engine-store';
import type { Database } from '#entities';
import type { Provider } from '#rules';
import { openCredential, SealBrokenError, type MasterKeys } from '#secrets';

/** What names a target and the way to it. */
export type TargetAccess = Pick<CloudTarget, 'resourceType' | 'identifier' | 'region'> & {
  readonly credentialId: string;
};

/** What convergence needs of `CloudAccess`. */
export type CloudWays = Pick<CloudAccess, 'driver' | 'open'>;

/** The way from a row to the cloud: its driver, and the credential opened for this one look. */
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

  /**
   * @param claims what stands there by our record, see `claimsOf`
   * @throws DriverError `denied` when the credential is gone or does not open
   */
  async open({ credentialId, ...place }: TargetAccess, claims: CloudTarget['claims']): Promise<CloudTarget> {
    return { ...place, credential: await this.credential(credentialId), deployment: this.deployment, claims };
  }

  /** @throws DriverError `denied` when it is gone or does not open */
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
