import type { Provider } from '#rules';
import { AGENT_FACTS } from './agent/agent.facts';
import { APISIX_FACTS } from './apisix/apisix.facts';
import { AWS_FACTS } from './aws/aws.facts';
import { AZURE_FACTS } from './azure/azure.facts';
import { GCP_FACTS } from './gcp/gcp.facts';
import type { ProviderDriver } from './provider-driver';
import type { ProviderFacts } from './provider-facts';
import { VERCEL_FACTS } from './vercel/vercel.facts';

type CreateDriver = (environment: NodeJS.ProcessEnv) => ProviderDriver | Promise<ProviderDriver>;

interface Entry {
  readonly facts: ProviderFacts;
  /** loads the driver and the SDK behind it; null: agents carry out their own changes, and no worker drives them */
  readonly load: (() => Promise<CreateDriver>) | null;
}

const entry = (facts: ProviderFacts, load: Entry['load']): Entry => ({ facts, load });

/** The one list of providers: a new one is a line here and a folder beside it. */
const ENTRIES: Readonly<Record<Provider, Entry>> = {
  AWS: entry(AWS_FACTS, async () => (await import('./aws/aws.driver.js')).createAwsDriver),
  GCP: entry(GCP_FACTS, async () => (await import('./gcp/gcp.driver.js')).createGcpDriver),
  AZURE: entry(AZURE_FACTS, async () => (await import('./azure/azure.driver.js')).createAzureDriver),
  APISIX: entry(APISIX_FACTS, async () => (await import('./apisix/apisix.driver.js')).createApisixDriver),
  VERCEL: entry(VERCEL_FACTS, async () => (await import('./vercel/vercel.driver.js')).createVercelDriver),
  AGENT: entry(AGENT_FACTS, null),
};

/** The drivers of this process, each loaded on first use: an SDK costs tens of megabytes. */
export class DriverRegistry {
  private readonly loaded = new Map<Provider, Promise<ProviderDriver>>();

  /** @param environment where the providers' endpoint variables are read, usually `process.env` */
  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** Every provider of the contract. */
  static get providers(): Provider[] {
    return Object.keys(ENTRIES) as Provider[];
  }

  /** Of those, the ones a worker drives. */
  static get driven(): Provider[] {
    return DriverRegistry.providers.filter((provider) => ENTRIES[provider].load);
  }

  /** Every variable of the environment that a driver reads: a process that drives clouds is given these. */
  static get variables(): string[] {
    return DriverRegistry.providers.flatMap((provider) => ENTRIES[provider].facts.variables);
  }

  /** Whether there is a driver. Without one there is no cloud to ask: who keeps the object fetches and reports by itself. */
  static isDriven(provider: Provider): boolean {
    return ENTRIES[provider].load !== null;
  }

  static facts(provider: Provider): ProviderFacts {
    return ENTRIES[provider].facts;
  }

  /** @throws Error for a provider without one; callers check `isDriven` first */
  async driver(provider: Provider): Promise<ProviderDriver> {
    const known = this.loaded.get(provider);
    if (known) return known;
    const { load } = ENTRIES[provider];
    if (!load) throw new Error(`No driver for provider ${provider}`);
    const driver = load().then((create) => create(this.environment));
    this.loaded.set(provider, driver);
    return driver;
  }
}
