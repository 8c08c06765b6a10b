import { Module } from '@nestjs/common';
import { CloudAccountsController } from './cloud-accounts.controller';
import { CloudAccountsService } from './cloud-accounts.service';
import { CredentialVerifier } from './credential-verifier';
import { CredentialsController } from './credentials.controller';
import { CredentialsService } from './credentials.service';
import { DataKeys } from './data-keys';

@Module({
  controllers: [CredentialsController, CloudAccountsController],
  providers: [CredentialsService, CloudAccountsService, CredentialVerifier, DataKeys],
  exports: [DataKeys],
})
export class CredentialsModule {}
