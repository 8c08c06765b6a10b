import { Module, type DynamicModule, type ModuleMetadata, type Provider } from '@nestjs/common';
import { AccessGuard } from './access.guard';
import { AccessTokens } from './access-tokens';
import { GuardSettings } from './guard-settings';
import { JwtStrategy } from './jwt.strategy';
import { PrincipalLookup } from './principal';
import { StepTokens } from './step-tokens';
import { WorkloadTokens } from './workload-tokens';

/** The guards, registered once. The application registers `AccessGuard` globally, in its own order of guards. */
@Module({})
export class GuardsModule {
  /**
   * @param application providers for `GuardSettings` and `PrincipalLookup`, and the modules that they need
   */
  static register(application: {
    readonly imports: NonNullable<ModuleMetadata['imports']>;
    readonly providers: readonly Provider[];
  }): DynamicModule {
    return {
      module: GuardsModule,
      global: true,
      imports: application.imports,
      providers: [
        ...application.providers,
        AccessTokens,
        StepTokens,
        WorkloadTokens,
        JwtStrategy,
        AccessGuard,
      ],
      exports: [GuardSettings, PrincipalLookup, AccessTokens, StepTokens, WorkloadTokens, AccessGuard],
    };
  }
}
