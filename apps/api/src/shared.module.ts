import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { PasswordHasher } from '#secrets';
import { ApiSettings } from './api.settings';
import { Bulk } from './audit/bulk';
import { PublicAddress } from './http/public-address';
import { Plans } from './plans/plans';
import { Trials } from './trials/trials';

/** Providers of every feature: the settings, and services that most of them use. */
@Global()
@Module({})
export class SharedModule {
  static register(settings: ApiSettings): DynamicModule {
    const providers: Provider[] = [
      { provide: ApiSettings, useValue: settings },
      { provide: PasswordHasher, useValue: new PasswordHasher(settings.PASSWORD_HASH_COST) },
      Bulk,
      PublicAddress,
      Plans,
      Trials,
    ];
    return {
      module: SharedModule,
      providers,
      exports: providers.map((provider) => ('provide' in provider ? provider.provide : provider)),
    };
  }
}
