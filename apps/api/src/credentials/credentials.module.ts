import { Module } from '@nestjs/common';
import { CredentialVerifier } from './credential-verifier';
import { CredentialsController } from './credentials.controller';
import { CredentialsService } from './credentials.service';
import { DataKeys } from './data-keys';

@Module({
  controllers: [CredentialsController],
  providers: [CredentialsService, CredentialVerifier, DataKeys],
  exports: [DataKeys],
})
export class CredentialsModule {}
