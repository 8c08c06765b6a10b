import type { Provider } from '#rules';
import { AGENT_FACTS } from './agent/agent.facts';
import { APISIX_CREDENTIAL_TYPES } from './apisix/apisix.facts';
import { AWS_FACTS } from './aws/aws.facts';
import { AZURE_CREDENTIAL_TYPES } from './azure/azure.facts';
import { GCP_CREDENTIAL_TYPES } from './gcp/gcp.facts';
import type { ProviderDriver } from './provider-driver';
import type { CredentialTypes, ProviderFacts } from './provider-facts';
import { VERCEL_CREDENTIAL_TYPES } from './vercel/vercel.facts';

interface Entry {
  readonly facts: ProviderFacts;
  /** loads the driver and the SDK behind it; null: agents carry out their own changes, and no worker drives them */
  readonly load: ((environment: NodeJS.ProcessEnv) => Promise<ProviderDriver>) | null;
}

/** The one list of providers: a new one is a line here and a folder beside it. */
const ENTRIES: Partial<Record<Provider, Entry>> = {
  AWS: {
    facts: AWS_FACTS,
    load: async (environment) => (await import('./aws/aws.driver.js')).createAwsDriver(environment),
  },
  AGENT: { facts: AGENT_FACTS, load: null },
};

/** Credentials are kept for every provider, also for one this build cannot drive. */
const CREDENTIAL_TYPES: Readonly<Record<Provider, CredentialTypes>> = {
  AWS: AWS_FACTS.credentialTypes,
  GCP: GCP_CREDENTIAL_TYPES,
  AZURE: AZURE_CREDENTIAL_TYPES,
  APISIX: APISIX_CREDENTIAL_TYPES,
  VERCEL: VERCEL_CREDENTIAL_TYPES,
  AGENT: AGENT_FACTS.credentialTypes,
};

/** The drivers of this process, each loaded on first use: an SDK costs tens of megabytes. */
export class DriverRegistry {
  private readonly loaded = new Map<Provider, Promise<ProviderDriver>>();

  /** @param environment where the providers' endpoint variables are read, usually `process.env` */
  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** Providers whose resources this build takes. */
  static get served(): Provider[] {
    return Object.keys(ENTRIES) as Provider[];
  }

  /** Of those, the ones a worker drives. */
  static get providers(): Provider[] {
    return DriverRegistry.served.filter((provider) => ENTRIES[provider]?.load);
  }

  /** Whether there is a driver. Without one there is no cloud to ask: an agent connects and reports by itself. */
  static isDriven(provider: Provider): boolean {
    return DriverRegistry.providers.includes(provider);
  }

  /** @returns undefined for a provider this build does not serve */
  static facts(provider: Provider): ProviderFacts | undefined {
    return ENTRIES[provider]?.facts;
  }

  /** What credentials of a provider are made of. */
  static credentialTypes(provider: Provider): CredentialTypes {
    return CREDENTIAL_TYPES[provider];
  }

  /** @throws Error for a provider this build cannot drive; callers check `isDriven` first */
  async driver(provider: Provider): Promise<ProviderDriver> {
    const known = this.loaded.get(provider);
    if (known) return known;
    const load = ENTRIES[provider]?.load;
    if (!load) throw new Error(`No driver for provider ${provider}`);
    const driver = load(this.environment);
    this.loaded.set(provider, driver);
    return driver;
  }
}
