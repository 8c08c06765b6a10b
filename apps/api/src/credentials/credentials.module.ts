import { Module } from '@nestjs/common';
import { CredentialStore } from '#entities';
import { CredentialVerifier } from './credential-verifier';
import { CredentialsController } from './credentials.controller';
import { CredentialsService } from './credentials.service';

@Module({
  controllers: [CredentialsController],
  providers: [CredentialsService, CredentialVerifier, CredentialStore],
  exports: [CredentialStore],
})
export class CredentialsModule {}
