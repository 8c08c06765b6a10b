import type { Provider } from '#rules';
import type { ProviderDriver } from './provider-driver';

/** Loads each provider's driver, and the SDK behind it, on first use: an SDK costs tens of megabytes. */
const LOADERS: Partial<Record<Provider, (environment: NodeJS.ProcessEnv) => Promise<ProviderDriver>>> = {
  AWS: async (environment) => (await import('./aws/aws.driver.js')).createAwsDriver(environment),
};

/** The drivers of this process, one instance each. */
export class DriverRegistry {
  private readonly loaded = new Map<Provider, Promise<ProviderDriver>>();

  /** @param environment where the providers' endpoint variables are read, usually `process.env` */
  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** Providers this build can drive. */
  static get providers(): Provider[] {
    return Object.keys(LOADERS) as Provider[];
  }

  /** @throws Error when the provider has no driver; callers check `providers` first */
  driver(provider: Provider): Promise<ProviderDriver> {
    const known = this.loaded.get(provider);
    if (known) return known;
    const load = LOADERS[provider];
    if (!load) return Promise.reject(new Error(`No driver for provider ${provider}`));
    const driver = load(this.environment);
    this.loaded.set(provider, driver);
    return driver;
  }
}
