import { RESOURCE_GROUP, TENANT_ID } from '../principal';

/** What a simulated service does. Written from the services' own pages, not from the driver. */
interface ServiceBase {
  /** of the first of five resources: `simulated-sql`, `simulated-sql-2` … */
  readonly name: string;
  readonly armType: string;
  /** rules that it takes */
  readonly limit: number;
  /** changes are accepted, and carried out one at a time */
  readonly isSlow: boolean;
  /** the action that asks for a running change */
  readonly polling: string | null;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly sku?: object;
}

export interface ChildService extends ServiceBase {
  readonly shape: 'children';
  /** by collection: the names of the properties with the first and the last address */
  readonly collections: Readonly<Record<string, readonly [string, string]>>;
  readonly ruleName: RegExp;
}

export interface ListService extends ServiceBase {
  readonly shape: 'list';
  readonly property: string;
  /** ranges of one and two addresses are refused */
  readonly refusesSmall: boolean;
  /** a change without a default action is refused; otherwise it resets it to Allow */
  readonly requiresDefaultAction: boolean;
  /** single addresses are returned with a prefix length */
  readonly completesAddresses: boolean;
}

export type Service = ChildService | ListService;

const IPV4 = { firewallRules: ['startIpAddress', 'endIpAddress'] } as const;
const ACLS = { bypass: 'None', defaultAction: 'Deny', virtualNetworkRules: [], ipRules: [] };

export const SERVICES: readonly Service[] = [
  {
    shape: 'children',
    name: 'simulated-sql',
    armType: 'Microsoft.Sql/servers',
    limit: 128,
    isSlow: false,
    polling: null,
    collections: { ...IPV4, ipv6FirewallRules: ['startIPv6Address', 'endIPv6Address'] },
    ruleName: /^[^<>*%&:\\/?]{1,128}$/,
    properties: { publicNetworkAccess: 'Enabled', version: '12.0' },
  },
  ...(['PostgreSQL', 'MySQL'] as const).map((engine): ChildService => ({
    shape: 'children',
    name: `simulated-${engine.toLowerCase()}`,
    armType: `Microsoft.DBfor${engine}/flexibleServers`,
    limit: 256,
    isSlow: true,
    polling: `Microsoft.DBfor${engine}/locations/azureAsyncOperation/read`,
    collections: IPV4,
    ruleName: /^[-\w]{0,79}\w$/,
    properties: { state: 'Ready', network: { publicNetworkAccess: 'Enabled' } },
  })),
  {
    shape: 'list',
    name: 'simulated-vault',
    armType: 'Microsoft.KeyVault/vaults',
    limit: 1000,
    isSlow: false,
    polling: null,
    property: 'networkAcls',
    refusesSmall: false,
    requiresDefaultAction: false,
    completesAddresses: true,
    properties: {
      tenantId: TENANT_ID,
      sku: { family: 'A', name: 'standard' },
      enableRbacAuthorization: true,
      publicNetworkAccess: 'Enabled',
      networkAcls: ACLS,
    },
  },
  {
    shape: 'list',
    name: 'simulated-registry',
    armType: 'Microsoft.ContainerRegistry/registries',
    limit: 100,
    isSlow: true,
    polling: 'Microsoft.ContainerRegistry/registries/operationStatuses/read',
    property: 'networkRuleSet',
    refusesSmall: false,
    requiresDefaultAction: true,
    completesAddresses: false,
    properties: {
      publicNetworkAccess: 'Enabled',
      networkRuleBypassOptions: 'None',
      networkRuleSet: { defaultAction: 'Deny', ipRules: [] },
    },
    sku: { name: 'Premium', tier: 'Premium' },
  },
  {
    shape: 'list',
    name: 'simulated-storage',
    armType: 'Microsoft.Storage/storageAccounts',
    limit: 400,
    isSlow: false,
    polling: null,
    property: 'networkAcls',
    refusesSmall: true,
    requiresDefaultAction: true,
    completesAddresses: false,
    properties: { publicNetworkAccess: 'Enabled', networkAcls: { ...ACLS, resourceAccessRules: [] } },
  },
  {
    shape: 'list',
    name: 'simulated-ai',
    armType: 'Microsoft.CognitiveServices/accounts',
    limit: 100,
    isSlow: true,
    polling: 'Microsoft.CognitiveServices/locations/operationResults/read',
    property: 'networkAcls',
    refusesSmall: true,
    requiresDefaultAction: false,
    completesAddresses: false,
    properties: { publicNetworkAccess: 'Enabled', networkAcls: ACLS },
  },
];

const RESOURCES: ReadonlyMap<string, Service> = new Map(
  SERVICES.flatMap((service) =>
    Array.from(
      { length: service.name === 'simulated-postgresql' ? 30 : 5 },
      (_, index) =>
        [`${RESOURCE_GROUP}/${service.name}${index === 0 ? '' : `-${index + 1}`}`, service] as const,
    ),
  ),
);

/** The resources, as `resource group/name`. */
export const SERVICE_TARGETS: readonly string[] = [...RESOURCES.keys()];

/** @param target as `resource group/name`, in lower case */
export const serviceOf = (target: string): Service | undefined => RESOURCES.get(target);

/** The actions that the documented roles have for a service. */
export function actionsOf({ armType, polling, ...service }: Service): string[] {
  const below =
    service.shape === 'list'
      ? ['write']
      : Object.keys(service.collections).flatMap((collection) =>
          ['read', 'write', 'delete'].map((verb) => `${collection}/${verb}`),
        );
  return [
    ...['read', ...below].map((action) => `${armType}/${action}`),
    ...(polling === null ? [] : [polling]),
  ];
}
