import { Injectable } from '@nestjs/common';
import { DriverRegistry, driverErrorOf, type DriverError } from '#drivers';
import type { SealedCredential } from '#entities';
import { MasterKeys } from '#secrets';
import { openedCredential } from './opened-credential';

/** Asks a provider whether it takes a credential. The request waits for the answer. */
@Injectable()
export class CredentialVerifier {
  constructor(
    private readonly masterKeys: MasterKeys,
    private readonly drivers: DriverRegistry,
  ) {}

  /** @returns why the provider refused it or did not say, null when it took it, or when it holds nothing to refuse */
  async check(sealed: SealedCredential): Promise<DriverError | null> {
    if (!DriverRegistry.isDriven(sealed.provider)) return null;
    const driver = await this.drivers.driver(sealed.provider);
    return driverErrorOf(() => driver.checkCredential(openedCredential(this.masterKeys, sealed)));
  }
}
