import { Module } from '@nestjs/common';
import { AccountTokenStore, PasswordStore, SpentTokenStore } from '#entities';
import { GuardSettings, GuardsModule, PrincipalLookup } from '#guards';
import { MfaModule } from '../mfa/mfa.module';
import { AccountAudit } from './account-audit';
import { AccountLinks } from './account-links';
import { AuthController } from './auth.controller';
import { AuthService } from './auth.service';
import { ApiGuardSettings } from './guard-wiring';
import { Invitations } from './invitations';
import { LockOutModule } from './lock-out.module';
import { AccountPages } from './pages/account-pages';
import { AccountPagesController } from './pages/account-pages.controller';
import { PasswordResetService } from './password-reset.service';
import { PasswordsController } from './passwords.controller';
import { PasswordsService } from './passwords.service';
import { SecondFactorService } from './second-factor.service';
import { SignInService } from './sign-in.service';
import { SpentTokens } from './spent-tokens';
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
  controllers: [AuthController, PasswordsController, AccountPagesController],
  providers: [
    AuthService,
    SecondFactorService,
    SignInService,
    PasswordsService,
    PasswordResetService,
    TokenService,
    AccountAudit,
    AccountLinks,
    AccountPages,
    Invitations,
    AccountTokenStore,
    PasswordStore,
    SpentTokenStore,
    SpentTokens,
  ],
  exports: [Invitations],
})
export class AuthModule {}
