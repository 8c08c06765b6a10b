import { Injectable } from '@nestjs/common';
import { CredentialOpener } from '#credentials';
import { DriverRegistry, driverErrorOf, type DriverError } from '#drivers';
import type { SealedCredential } from '#entities';

/** Checks synchronously whether a provider accepts a credential. */
@Injectable()
export class CredentialVerifier {
  constructor(
    private readonly credentials: CredentialOpener,
    private readonly drivers: DriverRegistry,
  ) {}

  /** @returns why the check failed; null when the provider accepts it, or when an agent serves the provider */
  async check(sealed: SealedCredential): Promise<DriverError | null> {
    if (!DriverRegistry.isDriven(sealed.provider)) return null;
    const driver = await this.drivers.driver(sealed.provider);
    return driverErrorOf(() => driver.checkCredential(this.credentials.open(sealed)));
  }
}
