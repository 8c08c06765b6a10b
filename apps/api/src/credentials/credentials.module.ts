import { Module } from '@nestjs/common';
import { CredentialStore } from '#entities';
import { CredentialsController } from './credentials.controller';
import { CredentialsService } from './credentials.service';

@Module({
  controllers: [CredentialsController],
  providers: [CredentialsService, CredentialStore],
  exports: [CredentialStore],
})
export class CredentialsModule {}
