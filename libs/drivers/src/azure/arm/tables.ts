import type { Room } from '#rules';
import type { DriverTraits } from '../../provider-driver';
import type { Effect, Family, Revocation } from '../../provider-facts';
import type { Json } from './arm-json';

interface ArmTypeBase {
  /** for people */
  readonly label: string;
  readonly noun: string;
  readonly armType: string;
  readonly apiVersion: string;
  readonly example: string;
  readonly families: readonly Family[];
  /** below `armType`, besides its `read`: what `verify` requires */
  readonly actions: readonly string[];
  /** to ask how far a change is */
  readonly polling: readonly string[];
  readonly traits: DriverTraits;
  readonly effect: Effect;
  readonly revocation: Revocation;
  /** rules that the service takes; null: not documented */
  readonly limit: number | null;
}

/** A collection of rules below a resource. */
export interface RuleCollection {
  readonly path: string;
  readonly version: 4 | 6;
  /** the properties of a rule with its first and its last address */
  readonly first: string;
  readonly last: string;
}

/** Each rule is an object of its own below the resource. */
export interface ChildType extends ArmTypeBase {
  readonly shape: 'children';
  readonly collections: readonly RuleCollection[];
  /** where the resource says whether public networks may reach it at all */
  readonly publicAccess: readonly string[];
  /** what `verify` warns of on each resource of the type */
  readonly warnings: readonly string[];
}

/** The rules are a list in the properties of the resource. */
export interface ListType extends ArmTypeBase {
  readonly shape: 'list';
  /** the property with the list `ipRules`, the default action and the other exceptions */
  readonly property: 'networkAcls' | 'networkRuleSet';
  /** how a single address is written; `bare`: ranges of one or two addresses are refused */
  readonly hosts: 'cidr' | 'bare';
  /** further fields of an entry */
  readonly entry: Json;
  /** the command that makes the default action Deny */
  readonly denyCommand: (name: string) => string;
  /** why the resource cannot be used, as a message; null: it can */
  readonly refusal: (resource: Json) => string | null;
  readonly warnings: readonly string[];
}

export type ArmType = ChildType | ListType;

const FIREWALL_RULES: RuleCollection = {
  path: 'firewallRules',
  version: 4,
  first: 'startIpAddress',
  last: 'endIpAddress',
};
const RULE_ACTIONS = ['read', 'write', 'delete'].map((verb) => `firewallRules/${verb}`);
const SIGN_IN: Revocation = {
  cutsConnections: 'no',
  words: 'The address is looked at when a client signs in: connections that are established live on.',
};

const CHILD_TRAITS: Omit<DriverTraits, 'writeBudget' | 'callTimeoutMs'> = {
  batchSize: 10,
  callPerRule: true,
  writeSpacing: { usualMs: 500, burstMs: 1000, burstSize: 10 },
};

/** A change takes about a minute, and a server carries out one at a time. */
const flexibleServer = (
  service: string,
  label: string,
): Omit<ChildType, 'apiVersion' | 'noun' | 'example'> => ({
  shape: 'children',
  label,
  armType: `Microsoft.${service}/flexibleServers`,
  collections: [FIREWALL_RULES],
  publicAccess: ['network', 'publicNetworkAccess'],
  families: ['ipv4'],
  actions: RULE_ACTIONS,
  polling: [`Microsoft.${service}/locations/azureAsyncOperation/read`],
  limit: null,
  traits: {
    ...CHILD_TRAITS,
    // Passes ask again while a server is busy for a minute: half of what the resource manager allows.
    writeBudget: { burst: 50, refillPerSecond: 5 },
    oneWriteAtATime: true,
    callTimeoutMs: 20_000,
  },
  effect: { usualSeconds: 0, atMostSeconds: 0 },
  revocation: SIGN_IN,
  warnings: [],
});

const LIST_TRAITS: DriverTraits = {
  batchSize: 200,
  wholeList: true,
  writeBudget: { burst: 10, refillPerSecond: 0.5 },
  writeSpacing: { usualMs: 2000, burstMs: 4000, burstSize: 10 },
  callTimeoutMs: 15_000,
};
const EACH_REQUEST: Revocation = {
  cutsConnections: 'yes',
  words:
    'Each request is looked at: the next one is refused, as soon as the service acts on the change (see effect).',
};
const LIST: Pick<ListType, 'shape' | 'families' | 'actions' | 'revocation'> = {
  shape: 'list',
  families: ['ipv4'],
  actions: ['write'],
  revocation: EACH_REQUEST,
};

const propertiesOf = ({ properties }: Json): Json =>
  typeof properties === 'object' && properties !== null ? (properties as Json) : {};

/** By resourceType. */
export const ARM_TYPES: Readonly<Record<string, ArmType>> = {
  SQL_SERVER: {
    shape: 'children',
    label: 'SQL server',
    noun: 'SQL server',
    armType: 'Microsoft.Sql/servers',
    apiVersion: '2023-08-01',
    example: 'production/orders',
    collections: [
      FIREWALL_RULES,
      { path: 'ipv6FirewallRules', version: 6, first: 'startIPv6Address', last: 'endIPv6Address' },
    ],
    publicAccess: ['publicNetworkAccess'],
    families: ['ipv4', 'ipv6'],
    actions: [...RULE_ACTIONS, ...RULE_ACTIONS.map((action) => action.replace('firewall', 'ipv6Firewall'))],
    polling: [],
    limit: 128,
    traits: { ...CHILD_TRAITS, writeBudget: { burst: 20, refillPerSecond: 1 }, callTimeoutMs: 20_000 },
    effect: { usualSeconds: 5, atMostSeconds: 300 },
    revocation: SIGN_IN,
    warnings: [
      'rules of single databases are looked at before those of the server, and are visible in T-SQL only',
    ],
  },
  POSTGRESQL_FLEXIBLE_SERVER: {
    ...flexibleServer('DBforPostgreSQL', 'PostgreSQL flexible server'),
    noun: 'PostgreSQL flexible server',
    apiVersion: '2025-08-01',
    example: 'production/orders',
  },
  MYSQL_FLEXIBLE_SERVER: {
    ...flexibleServer('DBforMySQL', 'MySQL flexible server'),
    noun: 'MySQL flexible server',
    apiVersion: '2021-05-01',
    example: 'production/orders',
  },
  KEY_VAULT: {
    ...LIST,
    label: 'Key vault',
    noun: 'key vault',
    armType: 'Microsoft.KeyVault/vaults',
    apiVersion: '2026-02-01',
    example: 'production/secrets',
    property: 'networkAcls',
    hosts: 'cidr',
    entry: {},
    polling: [],
    limit: 1000,
    traits: LIST_TRAITS,
    effect: { usualSeconds: 10, atMostSeconds: 600 },
    denyCommand: (name) => `az keyvault update --name ${name} --default-action Deny`,
    refusal: (vault) =>
      propertiesOf(vault).enableRbacAuthorization === true
        ? null
        : 'The vault uses access policies, which the permission to write its firewall could change as well: let it use Azure role-based access control',
    warnings: [],
  },
  CONTAINER_REGISTRY: {
    ...LIST,
    label: 'Container registry',
    noun: 'container registry',
    armType: 'Microsoft.ContainerRegistry/registries',
    apiVersion: '2025-11-01',
    example: 'production/contoso',
    property: 'networkRuleSet',
    hosts: 'cidr',
    entry: { action: 'Allow' },
    polling: ['Microsoft.ContainerRegistry/registries/operationStatuses/read'],
    limit: 100,
    traits: { ...LIST_TRAITS, batchSize: 100 },
    effect: { usualSeconds: 60, atMostSeconds: 300 },
    denyCommand: (name) => `az acr update --name ${name} --default-action Deny`,
    refusal: ({ sku }) =>
      (sku as { name?: unknown } | undefined)?.name === 'Premium'
        ? null
        : 'The registry is not of the tier Premium, and others have no firewall',
    warnings: ['the permission to write the firewall also allows to enable the admin user of the registry'],
  },
  STORAGE_ACCOUNT: {
    ...LIST,
    label: 'Storage account',
    noun: 'storage account',
    armType: 'Microsoft.Storage/storageAccounts',
    apiVersion: '2025-08-01',
    example: 'production/contoso',
    property: 'networkAcls',
    hosts: 'bare',
    entry: { action: 'Allow' },
    polling: [],
    limit: 400,
    traits: LIST_TRAITS,
    effect: { usualSeconds: 20, atMostSeconds: 120 },
    denyCommand: (name) => `az storage account update --name ${name} --default-action Deny`,
    refusal: () => null,
    warnings: [
      "rules do not apply to callers in the account's own region: runners of GitHub and Azure DevOps are in Azure, and fail at random there",
      'the permission to write the firewall also allows to make blobs public',
    ],
  },
  AI_SERVICES_ACCOUNT: {
    ...LIST,
    label: 'AI services account',
    noun: 'AI services account',
    armType: 'Microsoft.CognitiveServices/accounts',
    apiVersion: '2025-09-01',
    example: 'production/assistant',
    property: 'networkAcls',
    hosts: 'bare',
    entry: {},
    polling: ['Microsoft.CognitiveServices/locations/operationResults/read'],
    limit: 100,
    traits: { ...LIST_TRAITS, batchSize: 100 },
    effect: { usualSeconds: 30, atMostSeconds: 300 },
    denyCommand: (name) =>
      `az resource update --name ${name} --resource-type Microsoft.CognitiveServices/accounts --set properties.networkAcls.defaultAction=Deny`,
    refusal: () => null,
    warnings: [],
  },
};

/** The room of a service with so many rules; none where its limit is not documented. */
export const armRoom = ({ limit }: ArmType, used: number): Room[] =>
  limit === null ? [] : [{ family: null, used, limit, limitFrom: 'PROVIDER' }];

/** The actions that a role needs for a type. */
export const actionsOf = ({ armType, actions, polling }: ArmType): string[] =>
  [
    'Microsoft.Authorization/locks/read',
    'Microsoft.Authorization/permissions/read',
    `${armType}/read`,
    ...actions.map((action) => `${armType}/${action}`),
    ...polling,
  ].toSorted();
