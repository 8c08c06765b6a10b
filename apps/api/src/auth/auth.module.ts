import { Module } from '@nestjs/common';
import { GuardSettings, GuardsModule, PrincipalLookup } from '#guards';
import { MfaModule } from '../mfa/mfa.module';
import { AccountAudit } from './account-audit';
import { AccountLinks } from './account-links';
import { AuthController } from './auth.controller';
import { AuthService } from './auth.service';
import { ApiGuardSettings } from './guard-wiring';
import { Invitations } from './invitations';
import { LockOutModule } from '../lock-out/lock-out.module';
import { MfaChallenges } from './mfa-challenges';
import { PasswordChangeService } from './password-change.service';
import { PasswordLinkService } from './password-link.service';
import { PasswordReplacement } from './password-replacement';
import { PasswordResetLinks } from './password-reset-links';
import { PasswordResetService } from './password-reset.service';
import { PasswordPolicyService } from './password-policy.service';
import { PasswordTokensService } from './password-tokens.service';
import { PasswordsController } from './passwords.controller';
import { RefreshCookie } from './refresh-cookie';
import { RegistrationService } from './registration.service';
import { SecondFactorService } from './second-factor.service';
import { SignInService } from './sign-in.service';
import { SignInsController } from './sign-ins.controller';
import { SignInsService } from './sign-ins.service';
import { StoredPrincipals } from './stored-principals';
import { TokenService } from './token.service';

@Module({
  imports: [
    LockOutModule,
    MfaModule,
    GuardsModule.register({
      imports: [],
      providers: [
        { provide: GuardSettings, useClass: ApiGuardSettings },
        { provide: PrincipalLookup, useClass: StoredPrincipals },
      ],
    }),
  ],
  controllers: [AuthController, PasswordsController, SignInsController],
  providers: [
    StoredPrincipals,
    RegistrationService,
    AuthService,
    SecondFactorService,
    MfaChallenges,
    SignInService,
    PasswordChangeService,
    PasswordLinkService,
    PasswordResetLinks,
    PasswordResetService,
    PasswordTokensService,
    PasswordReplacement,
    PasswordPolicyService,
    TokenService,
    RefreshCookie,
    SignInsService,
    AccountAudit,
    AccountLinks,
    Invitations,
  ],
  exports: [
    RefreshCookie,
    SignInService,
    AccountLinks,
    Invitations,
    PasswordPolicyService,
    PasswordResetLinks,
  ],
})
export class AuthModule {}
