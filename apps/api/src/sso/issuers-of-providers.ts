import { Injectable } from '@nestjs/common';
import { MasterKeys, openCredential } from '#secrets';
import { type IssuerClient, IssuerClients } from '#sso';
import type { SealedIdentityProvider } from '#tenant-store';

/** The issuers of identity providers, as this service is registered there. */
@Injectable()
export class IssuersOfProviders {
  constructor(
    private readonly clients: IssuerClients,
    private readonly masterKeys: MasterKeys,
  ) {}

  /** @throws IssuerFailure when what the issuer publishes cannot be read */
  of(provider: SealedIdentityProvider): Promise<IssuerClient> {
    const { issuer, clientId, groupsClaim } = provider;
    const { clientSecret = '' } = openCredential(this.masterKeys, provider);
    return this.clients.of({ issuer, clientId, clientSecret, groupsClaim });
  }
}
