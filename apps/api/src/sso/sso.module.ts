import { Module } from '@nestjs/common';
import { tenantNetworks } from '#drivers';
import { IssuerClients } from '#sso';
import { ApiSettings } from '../api.settings';
import { AuthModule } from '../auth/auth.module';
import { CredentialsModule } from '../credentials/credentials.module';
import { IdentityProvidersController } from './identity-providers.controller';
import { IdentityProvidersService } from './identity-providers.service';
import { LinkedIdentities } from './linked-identities';
import { IssuersOfProviders } from './issuers-of-providers';
import { SsoAccounts } from './sso-accounts';
import { SsoAddresses } from './sso-addresses';
import { SsoCallbackService } from './sso-callback.service';
import { SsoSignInController } from './sso-sign-in.controller';
import { SsoSignInService } from './sso-sign-in.service';

@Module({
  imports: [AuthModule, CredentialsModule],
  controllers: [IdentityProvidersController, SsoSignInController],
  providers: [
    IdentityProvidersService,
    LinkedIdentities,
    SsoSignInService,
    SsoCallbackService,
    SsoAccounts,
    IssuersOfProviders,
    SsoAddresses,
    {
      provide: IssuerClients,
      inject: [ApiSettings],
      useFactory: ({ TENANT_URL_NETWORKS }: ApiSettings): IssuerClients =>
        new IssuerClients(tenantNetworks({ TENANT_URL_NETWORKS: TENANT_URL_NETWORKS.join(',') })),
    },
  ],
})
export class SsoModule {}
