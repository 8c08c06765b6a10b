import { performance } from 'node:perf_hooks';
import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module';
import { Audiences } from './audiences';
import { IdTokenVerifier } from './id-token-verifier';
import { IssuerDocuments } from './issuer-documents';
import { IssuerKeys } from './issuer-keys';
import { Issuers } from './issuers';
import { OidcExchangeController } from './oidc-exchange.controller';
import { OidcExchangeService } from './oidc-exchange.service';
import { OidcTrustsController } from './oidc-trusts.controller';
import { OidcTrustsService } from './oidc-trusts.service';

@Module({
  imports: [UsersModule],
  controllers: [OidcTrustsController, OidcExchangeController],
  providers: [
    OidcTrustsService,
    OidcExchangeService,
    Issuers,
    Audiences,
    IssuerDocuments,
    {
      provide: IdTokenVerifier,
      inject: [IssuerDocuments],
      useFactory: (documents: IssuerDocuments): IdTokenVerifier =>
        new IdTokenVerifier(new IssuerKeys(documents, () => performance.now()), () => Date.now()),
    },
  ],
})
export class OidcModule {}
