import { Module } from '@nestjs/common';
import { AccountTokenStore } from '#entities';
import { GuardSettings, GuardsModule, PrincipalLookup } from '#guards';
import { AccountLinks } from './account-links';
import { AuthController } from './auth.controller';
import { AuthService } from './auth.service';
import { ApiGuardSettings } from './guard-wiring';
import { Invitations } from './invitations';
import { StoredPrincipals } from './stored-principals';
import { TokenService } from './token.service';

@Module({
  imports: [
    GuardsModule.register({
      imports: [],
      providers: [
        { provide: GuardSettings, useClass: ApiGuardSettings },
        { provide: PrincipalLookup, useClass: StoredPrincipals },
      ],
    }),
  ],
  controllers: [AuthController],
  providers: [AuthService, TokenService, AccountTokenStore, AccountLinks, Invitations],
  exports: [Invitations],
})
export class AuthModule {}
