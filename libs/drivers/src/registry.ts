import type { Provider } from '#rules';
import { AGENT_FACTS } from './agent/agent.facts';
import { APISIX_CREDENTIAL_TYPES } from './apisix/apisix.facts';
import { AWS_FACTS } from './aws/aws.facts';
import { AZURE_FACTS } from './azure/azure.facts';
import { GCP_FACTS } from './gcp/gcp.facts';
import type { ProviderDriver } from './provider-driver';
import type { CredentialTypes, ProviderFacts } from './provider-facts';
import { VERCEL_CREDENTIAL_TYPES } from './vercel/vercel.facts';

type CreateDriver = (environment: NodeJS.ProcessEnv) => ProviderDriver;

interface Driven {
  readonly facts: ProviderFacts;
  /** loads the driver and the SDK behind it; null: agents carry out their own changes, and no worker drives them */
  readonly load: (() => Promise<CreateDriver>) | null;
}

interface Entry {
  readonly credentialTypes: CredentialTypes;
  /** null: credentials are kept for it, and nothing else */
  readonly driven: Driven | null;
}

const driven = (facts: ProviderFacts, load: Driven['load']): Entry => ({
  credentialTypes: facts.credentialTypes,
  driven: { facts, load },
});

const kept = (credentialTypes: CredentialTypes): Entry => ({ credentialTypes, driven: null });

/** The one list of providers: a new one is a line here and a folder beside it. */
const ENTRIES: Readonly<Record<Provider, Entry>> = {
  AWS: driven(AWS_FACTS, async () => (await import('./aws/aws.driver.js')).createAwsDriver),
  GCP: driven(GCP_FACTS, async () => (await import('./gcp/gcp.driver.js')).createGcpDriver),
  AZURE: driven(AZURE_FACTS, async () => (await import('./azure/azure.driver.js')).createAzureDriver),
  APISIX: kept(APISIX_CREDENTIAL_TYPES),
  VERCEL: kept(VERCEL_CREDENTIAL_TYPES),
  AGENT: driven(AGENT_FACTS, null),
};

/** The drivers of this process, each loaded on first use: an SDK costs tens of megabytes. */
export class DriverRegistry {
  private readonly loaded = new Map<Provider, Promise<ProviderDriver>>();

  /** @param environment where the providers' endpoint variables are read, usually `process.env` */
  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** Providers whose resources this build takes. */
  static get served(): Provider[] {
    return (Object.keys(ENTRIES) as Provider[]).filter((provider) => ENTRIES[provider].driven !== null);
  }

  /** Of those, the ones a worker drives. */
  static get providers(): Provider[] {
    return DriverRegistry.served.filter((provider) => ENTRIES[provider].driven?.load);
  }

  /** Whether there is a driver. Without one there is no cloud to ask: an agent connects and reports by itself. */
  static isDriven(provider: Provider): boolean {
    return DriverRegistry.providers.includes(provider);
  }

  /** @returns undefined for a provider this build does not serve */
  static facts(provider: Provider): ProviderFacts | undefined {
    return ENTRIES[provider].driven?.facts;
  }

  /** What credentials of a provider are made of. */
  static credentialTypes(provider: Provider): CredentialTypes {
    return ENTRIES[provider].credentialTypes;
  }

  /** @throws Error for a provider this build cannot drive; callers check `isDriven` first */
  async driver(provider: Provider): Promise<ProviderDriver> {
    const known = this.loaded.get(provider);
    if (known) return known;
    const load = ENTRIES[provider].driven?.load;
    if (!load) throw new Error(`No driver for provider ${provider}`);
    const driver = load().then((create) => create(this.environment));
    this.loaded.set(provider, driver);
    return driver;
  }
}
