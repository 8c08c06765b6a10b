import { Module } from '@nestjs/common';
import { GuardSettings, GuardsModule, PrincipalLookup } from '#guards';
import { AuthController } from './auth.controller';
import { AuthService } from './auth.service';
import { ApiGuardSettings } from './guard-wiring';
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
  providers: [AuthService, TokenService],
})
export class AuthModule {}
