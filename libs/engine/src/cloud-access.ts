import type { CredentialOpener } from '#credentials';
import {
  DriverError,
  type CloudDriver,
  type CloudTarget,
  type DriverCredential,
  type DriverRegistry,
  type ProviderDriver,
} from '#drivers';
import { findSealedCredential } from '#engine-store';
import type { Database } from '#entities';
import type { Provider } from '#rules';

/** Identifies a target and the access path to it. */
export type TargetAccess = Pick<CloudTarget, 'resourceType' | 'identifier' | 'region' | 'configs'> & {
  readonly credentialId: string;
  /** something proves that the credential may write there; left out: nothing does */
  readonly isProven?: boolean;
};

/** What convergence needs of `CloudAccess`. */
export type CloudAccessPort = Pick<CloudAccess, 'driver' | 'open'>;

/** Provides drivers, and targets with their decrypted credential for one pass. */
export class CloudAccess {
  constructor(
    private readonly database: Database,
    private readonly drivers: DriverRegistry,
    private readonly credentials: CredentialOpener,
    private readonly deployment: string,
  ) {}

  driver(provider: Provider, resourceType: string): Promise<ProviderDriver> {
    return this.drivers.driverFor(provider, resourceType);
  }

  /** For what concerns no target. */
  credentialDriver(provider: Provider): Promise<CloudDriver> {
    return this.drivers.driver(provider);
  }

  /**
   * @param claims recorded rules of ours on the target, see `claimsOf`
   * @param recordedKeys their keys by provider id, see `recordedKeysOf`
   * @throws DriverError `denied` when the credential is deleted or cannot be decrypted
   */
  async open(
    { credentialId, isProven = false, ...target }: TargetAccess,
    claims: CloudTarget['claims'],
    recordedKeys: ReadonlyMap<string, string> = new Map(),
  ): Promise<CloudTarget> {
    return {
      ...target,
      credential: await this.credential(credentialId),
      deployment: this.deployment,
      claims,
      recordedKeys,
      ...(!isProven && { unprovenPath: credentialId }),
    };
  }

  /** @throws DriverError `denied` when it is deleted or cannot be decrypted */
  async credential(id: string): Promise<DriverCredential> {
    const sealed = await findSealedCredential(this.database.autocommit, id);
    if (!sealed) throw new DriverError('denied', 'The credential was deleted');
    return this.credentials.open(sealed);
  }
}
