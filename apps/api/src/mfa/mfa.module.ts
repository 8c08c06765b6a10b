import { Module } from '@nestjs/common';
import { LockOutModule } from '../lock-out/lock-out.module';
import { CredentialsModule } from '../credentials/credentials.module';
import { MfaCodes } from './mfa-codes';
import { MfaSecrets } from './mfa-secrets';
import { MfaController } from './mfa.controller';
import { MfaService } from './mfa.service';
import { StepUpController } from './step-up.controller';
import { CodeProtectedActions } from './code-protected-actions';

@Module({
  imports: [LockOutModule, CredentialsModule],
  controllers: [MfaController, StepUpController],
  providers: [MfaService, MfaCodes, MfaSecrets, CodeProtectedActions],
  exports: [CodeProtectedActions, MfaCodes],
})
export class MfaModule {}
