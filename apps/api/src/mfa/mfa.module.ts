import { Module } from '@nestjs/common';
import { MfaStore, RefreshTokenStore } from '#entities';
import { LockOutModule } from '../auth/lock-out.module';
import { CredentialsModule } from '../credentials/credentials.module';
import { MfaCodes } from './mfa-codes';
import { MfaController } from './mfa.controller';
import { MfaService } from './mfa.service';

@Module({
  imports: [LockOutModule, CredentialsModule],
  controllers: [MfaController],
  providers: [MfaService, MfaCodes, MfaStore, RefreshTokenStore],
  exports: [MfaCodes, MfaStore, RefreshTokenStore],
})
export class MfaModule {}
