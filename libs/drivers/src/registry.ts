import type { Provider } from '#rules';
import { AGENT_CREDENTIAL_TYPES } from './agent/agent.facts';
import { APISIX_FACTS } from './apisix/apisix.facts';
import { AWS_FACTS } from './aws/aws.facts';
import { AZURE_FACTS } from './azure/azure.facts';
import { GCP_CREDENTIAL_TYPES } from './gcp/gcp.facts';
import type { ProviderDriver } from './provider-driver';
import type { CredentialTypes, ProviderFacts } from './provider-facts';
import { VERCEL_CREDENTIAL_TYPES } from './vercel/vercel.facts';

interface Entry {
  readonly facts: ProviderFacts;
  /** loads the driver and the SDK behind it */
  readonly load: (environment: NodeJS.ProcessEnv) => Promise<ProviderDriver>;
}

/** The one list of providers: a new one is a line here and a folder beside it. */
const ENTRIES: Partial<Record<Provider, Entry>> = {
  AWS: {
    facts: AWS_FACTS,
    load: async (environment) => (await import('./aws/aws.driver.js')).createAwsDriver(environment),
  },
  AZURE: {
    facts: AZURE_FACTS,
    load: async (environment) => (await import('./azure/azure.driver.js')).createAzureDriver(environment),
  },
  APISIX: {
    facts: APISIX_FACTS,
    load: async (environment) => (await import('./apisix/apisix.driver.js')).createApisixDriver(environment),
  },
};

/** Credentials are kept for every provider, also for one this build cannot drive. */
const CREDENTIAL_TYPES: Readonly<Record<Provider, CredentialTypes>> = {
  AWS: AWS_FACTS.credentialTypes,
  GCP: GCP_CREDENTIAL_TYPES,
  AZURE: AZURE_FACTS.credentialTypes,
  APISIX: APISIX_FACTS.credentialTypes,
  VERCEL: VERCEL_CREDENTIAL_TYPES,
  AGENT: AGENT_CREDENTIAL_TYPES,
};

/** The drivers of this process, each loaded on first use: an SDK costs tens of megabytes. */
export class DriverRegistry {
  private readonly loaded = new Map<Provider, Promise<ProviderDriver>>();

  /** @param environment where the providers' endpoint variables are read, usually `process.env` */
  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** Providers this build can drive. */
  static get providers(): Provider[] {
    return Object.keys(ENTRIES) as Provider[];
  }

  /** @returns undefined for a provider this build cannot drive */
  static facts(provider: Provider): ProviderFacts | undefined {
    return ENTRIES[provider]?.facts;
  }

  /** What credentials of a provider are made of. */
  static credentialTypes(provider: Provider): CredentialTypes {
    return CREDENTIAL_TYPES[provider];
  }

  /** @throws Error for a provider this build cannot drive; callers check `facts` first */
  async driver(provider: Provider): Promise<ProviderDriver> {
    const known = this.loaded.get(provider);
    if (known) return known;
    const entry = ENTRIES[provider];
    if (!entry) throw new Error(`No driver for provider ${provider}`);
    const driver = entry.load(this.environment);
    this.loaded.set(provider, driver);
    return driver;
  }
}
