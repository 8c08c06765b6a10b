import type { Provider } from '#rules';
import { AGENT_CREDENTIAL_TYPES } from './agent/agent.facts';
import { APISIX_FACTS } from './apisix/apisix.facts';
import { AWS_FACTS } from './aws/aws.facts';
import { AZURE_FACTS } from './azure/azure.facts';
import { GCP_FACTS } from './gcp/gcp.facts';
import type { ProviderDriver } from './provider-driver';
import type { CredentialTypes, ProviderFacts } from './provider-facts';
import { VERCEL_FACTS } from './vercel/vercel.facts';

type CreateDriver = (environment: NodeJS.ProcessEnv) => ProviderDriver;

interface Driven {
  readonly facts: ProviderFacts;
  /** loads the driver and the SDK behind it */
  readonly load: () => Promise<CreateDriver>;
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
  APISIX: driven(APISIX_FACTS, async () => (await import('./apisix/apisix.driver.js')).createApisixDriver),
  VERCEL: driven(VERCEL_FACTS, async () => (await import('./vercel/vercel.driver.js')).createVercelDriver),
  AGENT: kept(AGENT_CREDENTIAL_TYPES),
};

/** The drivers of this process, each loaded on first use: an SDK costs tens of megabytes. */
export class DriverRegistry {
  private readonly loaded = new Map<Provider, Promise<ProviderDriver>>();

  /** @param environment where the providers' endpoint variables are read, usually `process.env` */
  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** Providers this build can drive. */
  static get providers(): Provider[] {
    return (Object.keys(ENTRIES) as Provider[]).filter((provider) => ENTRIES[provider].driven !== null);
  }

  /** @returns undefined for a provider this build cannot drive */
  static facts(provider: Provider): ProviderFacts | undefined {
    return ENTRIES[provider].driven?.facts;
  }

  /** What credentials of a provider are made of. */
  static credentialTypes(provider: Provider): CredentialTypes {
    return ENTRIES[provider].credentialTypes;
  }

  /** @throws Error for a provider this build cannot drive; callers check `facts` first */
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
