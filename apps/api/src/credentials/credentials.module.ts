import { Module } from '@nestjs/common';
import { CredentialStore } from '#tenant-store';
import { CredentialVerifier } from './credential-verifier';
import { CredentialsController } from './credentials.controller';
import { CredentialsService } from './credentials.service';
import { DataKeys } from './data-keys';

@Module({
  controllers: [CredentialsController],
  providers: [CredentialsService, CredentialVerifier, CredentialStore, DataKeys],
  exports: [CredentialStore, DataKeys],
})
export class CredentialsModule {}
