import { Module, type DynamicModule, type ModuleMetadata, type Provider } from '@nestjs/common';
import { AccessGuard } from './access.guard';
import { AccessTokens } from './access-tokens';
import { GuardSettings } from './guard-settings';
import { JwtStrategy } from './jwt.strategy';
import { PrincipalLookup } from './principal';
import { StepTokens } from './step-tokens';

/** The guards, to be registered once. The application makes `AccessGuard` global where its turn is. */
@Module({})
export class GuardsModule {
  /**
   * @param application where the settings and the look-up come from: providers for `GuardSettings` and
   *   `PrincipalLookup`, and the modules those need
   */
  static register(application: {
    readonly imports: NonNullable<ModuleMetadata['imports']>;
    readonly providers: readonly Provider[];
  }): DynamicModule {
    return {
      module: GuardsModule,
      global: true,
      imports: application.imports,
      providers: [...application.providers, AccessTokens, StepTokens, JwtStrategy, AccessGuard],
      exports: [GuardSettings, PrincipalLookup, AccessTokens, StepTokens, AccessGuard],
    };
  }
}
