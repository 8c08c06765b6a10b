import { Injectable } from '@nestjs/common';
import { MasterKeys, openCredential, sealCredential } from '#secrets';
import { type IssuerClient, IssuerClients } from '#sso';
import type { SealedIdentityProvider } from '#tenant-store';

type Secrets = Record<string, string>;

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

  /** Encrypts what an attempt to sign in must remember. @param id of the attempt */
  seal({ dataKey }: SealedIdentityProvider, id: string, secrets: Secrets): Secrets {
    return sealCredential(this.masterKeys, dataKey, id, secrets);
  }

  /** Decrypts what `seal` has encrypted. */
  open(provider: SealedIdentityProvider, attempt: { id: string; sealedData: Secrets }): Secrets {
    return openCredential(this.masterKeys, { ...provider, ...attempt });
  }
}
