import { Injectable } from '@nestjs/common';
import { CredentialOpener, Identities } from '#credentials';
import { DriverRegistry, driverErrorOf, type DriverError } from '#drivers';
import type { SealedCredential } from '#entities';
import type { OrganizationId } from '#rules';
import { invalidField } from '../errors/api-error';
import { shapeOf } from './credential-fields';
import type { CreateCredentialDto } from './dto/credential.dto';

/** Checks synchronously whether a provider accepts a credential. */
@Injectable()
export class CredentialVerifier {
  constructor(
    private readonly credentials: CredentialOpener,
    private readonly drivers: DriverRegistry,
    private readonly identities: Identities,
  ) {}

  /** @returns why the check failed; null when the provider accepts it, or when an agent serves the provider */
  async check(sealed: SealedCredential): Promise<DriverError | null> {
    if (!DriverRegistry.isDriven(sealed.provider)) return null;
    const driver = await this.drivers.driver(sealed.provider);
    return driverErrorOf(() => driver.checkCredential(this.credentials.open(sealed)));
  }

  /** @throws ApiError 400 when the cloud would have to trust an issuer that this deployment is not */
  refuseWithoutIssuer(organization: OrganizationId, { provider, credentialType }: CreateCredentialDto): void {
    const { needsIssuer } = shapeOf(provider, credentialType);
    if (!needsIssuer || this.identities.issuerOf(organization) !== null) return;
    const message = 'needs an issuer, which this deployment has when its operator sets OIDC_ISSUER_URL';
    throw invalidField('credentialType', message);
  }
}
