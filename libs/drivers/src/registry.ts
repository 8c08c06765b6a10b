import type { Provider } from '#rules';
import { AGENT_FACTS } from './agent/agent.facts';
import { APISIX_FACTS } from './apisix/apisix.facts';
import { ATLAS_FACTS } from './atlas/atlas.facts';
import { AWS_FACTS } from './aws/aws.facts';
import { AZURE_FACTS } from './azure/azure.facts';
import { GCP_FACTS } from './gcp/gcp.facts';
import type { CloudDriver, DriverOptions, DriverTraits, ProviderDriver } from './provider-driver';
import type { ProviderFacts } from './provider-facts';
import { VERCEL_FACTS } from './vercel/vercel.facts';

type CreateDriver = (
  environment: NodeJS.ProcessEnv,
  options: DriverOptions,
) => CloudDriver | Promise<CloudDriver>;

interface Entry {
  readonly facts: ProviderFacts;
  /** loads the driver and its SDK; null: agents apply the changes, there is no driver */
  readonly load: (() => Promise<CreateDriver>) | null;
}

const entry = (facts: ProviderFacts, load: Entry['load']): Entry => ({ facts, load });

/** The list of providers: a new provider is a line here and a folder. */
const ENTRIES: Readonly<Record<Provider, Entry>> = {
  AWS: entry(AWS_FACTS, async () => (await import('./aws/aws.driver.js')).createAwsDriver),
  GCP: entry(GCP_FACTS, async () => (await import('./gcp/gcp.driver.js')).createGcpDriver),
  AZURE: entry(AZURE_FACTS, async () => (await import('./azure/azure.driver.js')).createAzureDriver),
  APISIX: entry(APISIX_FACTS, async () => (await import('./apisix/apisix.driver.js')).createApisixDriver),
  VERCEL: entry(VERCEL_FACTS, async () => (await import('./vercel/vercel.driver.js')).createVercelDriver),
  ATLAS: entry(ATLAS_FACTS, async () => (await import('./atlas/atlas.driver.js')).createAtlasDriver),
  AGENT: entry(AGENT_FACTS, null),
};

/** The drivers of this process, loaded on first use: an SDK takes tens of megabytes. */
export class DriverRegistry {
  private readonly loaded = new Map<Provider, Promise<CloudDriver>>();
  /** by provider and type of resources */
  private readonly ofTypes = new Map<string, ProviderDriver>();

  /** @param environment contains the providers' endpoint variables, usually `process.env` */
  constructor(
    private readonly environment: NodeJS.ProcessEnv,
    private readonly options: DriverOptions = {},
  ) {}

  /** Every provider of the API contract. */
  static get providers(): Provider[] {
    return Object.keys(ENTRIES) as Provider[];
  }

  static get driven(): Provider[] {
    return DriverRegistry.providers.filter((provider) => ENTRIES[provider].load);
  }

  /** Every environment variable that a driver reads. */
  static get variables(): string[] {
    return DriverRegistry.providers.flatMap((provider) => ENTRIES[provider].facts.variables);
  }

  /** Whether the provider has a driver. Without one, agents fetch the desired rules and report the observed ones. */
  static isDriven(provider: Provider): boolean {
    return ENTRIES[provider].load !== null;
  }

  static facts(provider: Provider): ProviderFacts {
    return ENTRIES[provider].facts;
  }

  /** @throws Error for a provider without a driver; callers check `isDriven` first */
  async driver(provider: Provider): Promise<CloudDriver> {
    const known = this.loaded.get(provider);
    if (known) return known;
    const { load } = ENTRIES[provider];
    if (!load) throw new Error(`No driver for provider ${provider}`);
    const driver = load().then((create) => create(this.environment, this.options));
    this.loaded.set(provider, driver);
    return driver;
  }

  /** As `driver`, with the traits of a type. @throws Error for a type that the provider does not have */
  async driverFor(provider: Provider, resourceType: string): Promise<ProviderDriver> {
    const key = `${provider} ${resourceType}`;
    const known = this.ofTypes.get(key);
    if (known) return known;
    const traits = DriverRegistry.facts(provider).resourceTypes[resourceType]?.traits;
    if (!traits) throw new Error(`No resources of the type ${resourceType} of provider ${provider}`);
    const driver = withTraits(await this.driver(provider), traits);
    this.ofTypes.set(key, driver);
    return driver;
  }
}

const withTraits = (driver: CloudDriver, traits: DriverTraits): ProviderDriver => ({
  kind: driver.kind,
  traits,
  accountKey: (target) => driver.accountKey(target),
  checkCredential: (credential) => driver.checkCredential(credential),
  verify: (target, config) => driver.verify(target, config),
  readRules: (target) => driver.readRules(target),
  inspect: (target) => driver.inspect(target),
  applyChanges: (target, changes) => driver.applyChanges(target, changes),
});
