import type { DriverTraits } from '../provider-driver';
import {
  TRAFFIC_FIELDS,
  USUAL,
  type FieldForm,
  type Fields,
  type ProviderFacts,
  type Revocation,
} from '../provider-facts';
import { ARM_FACTS } from './arm/arm.facts';
import { ARM_TYPES } from './arm/tables';
import { joinRoles, namingOf, parseResourceId, rolePolicy, type ResourceName } from './resource-id';
import { trustSetup } from './trust-setup';

const UUID: FieldForm = {
  pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  words: 'must look like 00000000-0000-4000-8000-000000000001',
  example: '00000000-0000-4000-8000-000000000001',
};

/** Microsoft Entra knows a tenant by its id and by each of its domains. */
const TENANT: FieldForm = {
  pattern:
    /^(?:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,63})$/i,
  words: 'must be the id of the tenant, like 00000000-0000-4000-8000-000000000001, or one of its domains',
  example: '00000000-0000-4000-8000-000000000001',
};

const SUBSCRIPTION_FORM: FieldForm = {
  ...UUID,
  missing: 'must be the id of the subscription: az account show --query id prints it',
};

const GROUP_TYPE = 'Microsoft.Network/networkSecurityGroups';

/** Parses the full id of a network security group. @returns null when the text is not one */
export const parseGroupId = (id: string): ResourceName | null => parseResourceId(id, GROUP_TYPE);

/** The type of the resource manager, by resourceType. */
export const armTypeOf = (resourceType: string): string => ARM_TYPES[resourceType]?.armType ?? GROUP_TYPE;

/** The custom role that the app needs. */
const POLICY = rolePolicy([
  'Microsoft.Authorization/locks/read',
  'Microsoft.Authorization/permissions/read',
  'Microsoft.Network/locations/operations/read',
  'Microsoft.Network/locations/operationResults/read',
  `${GROUP_TYPE}/read`,
  `${GROUP_TYPE}/securityRules/read`,
  `${GROUP_TYPE}/securityRules/write`,
  `${GROUP_TYPE}/securityRules/delete`,
]);

/** An app registration, whatever it proves itself with. */
const APP = {
  optional: [],
  descriptions: {
    tenantId: 'the directory (tenant) id of the app registration, or a domain of the tenant',
    subscriptionId: 'the subscription in which groups are looked for that are not named by their full id',
  },
  forms: { tenantId: TENANT, clientId: UUID, subscriptionId: SUBSCRIPTION_FORM },
  hints: ['tenantId', 'clientId', 'subscriptionId'],
  fixedHints: ['subscriptionId'],
  account: {
    noun: 'subscription',
    pattern: UUID.pattern,
    example: UUID.example,
    of: ({ subscriptionId }: Fields) => subscriptionId?.toLowerCase() ?? null,
    isDefault: true as const,
    fill: (fields: Fields, account: string) => ({ ...fields, subscriptionId: account }),
    isListed: () => true,
  },
  aliases: { tenant: 'tenantId', appId: 'clientId' },
};

const TRAITS: DriverTraits = {
  // Each change is one write, and a group processes one write at a time.
  batchSize: 10,
  callPerRule: true,
  // Azure's network service allows 1000 writes in five minutes per subscription.
  writeBudget: { burst: 200, refillPerSecond: 3 },
  writeSpacing: { usualMs: 500, burstMs: 500, burstSize: 10 },
  oneWriteAtATime: true,
  callTimeoutMs: 20_000,
};

const REVOCATION: Revocation = {
  cutsConnections: 'depends',
  words:
    'Established connections live on, unless flushConnection is enabled on the network security group: then they are looked at again with every change of its rules.',
};

export const AZURE_FACTS: ProviderFacts = {
  provider: 'AZURE',
  label: 'Azure',
  variables: ['AZURE_AUTHORITY_HOST', 'AZURE_RESOURCE_MANAGER_URL'],
  credentialTypes: {
    SERVICE_PRINCIPAL: {
      label: 'App with a client secret',
      ...APP,
      required: ['tenantId', 'clientId', 'clientSecret', 'subscriptionId'],
      descriptions: {
        ...APP.descriptions,
        clientId: 'the application (client) id of the app registration',
        clientSecret: "the value of a client secret of it, not the secret's id",
      },
      // az ad sp create-for-rbac
      aliases: { ...APP.aliases, password: 'clientSecret' },
    },
    FEDERATED: {
      label: 'App, without a secret',
      ...APP,
      required: ['tenantId', 'clientId', 'subscriptionId'],
      descriptions: {
        ...APP.descriptions,
        clientId: 'the application (client) id of the app registration that trusts your issuer',
      },
      needsIssuer: true,
      setup: trustSetup,
      scope: {
        pattern: /^[\w().-]{1,90}$/,
        words: 'must be the id of a management group',
        example: 'production',
      },
    },
  },
  resourceTypes: {
    NETWORK_SECURITY_GROUP: {
      label: 'Network security group',
      traits: TRAITS,
      ...USUAL,
      policy: POLICY,
      revocation: REVOCATION,
      ...namingOf('NETWORK_SECURITY_GROUP', GROUP_TYPE, 'network security group', 'production/web-servers'),
      portsPerRule: 'many',
      config: [
        ...TRAFFIC_FIELDS,
        {
          name: 'priorityFrom',
          type: 'integer',
          description: 'the first priority that rules may take, 1000 when left out',
          example: 1000,
        },
        {
          name: 'priorityTo',
          type: 'integer',
          description: 'the last priority that rules may take, 3999 when left out',
          example: 3999,
        },
      ],
    },
    ...ARM_FACTS,
  },
  joinPolicies: joinRoles,
};
