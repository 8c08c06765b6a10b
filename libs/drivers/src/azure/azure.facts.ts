import {
  TRAFFIC_FIELDS,
  type FieldForm,
  type ProviderFacts,
  type ResourceTypeFacts,
} from '../provider-facts';
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

const GROUP = String.raw`[\w().-]{0,89}[\w()-]`;
const NAME = String.raw`[a-z0-9](?:[\w.-]{0,78}\w)?`;
const SUBSCRIPTION = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const FULL_ID = `/subscriptions/(${SUBSCRIPTION})/resourceGroups/(${GROUP})/providers/Microsoft\\.Network/networkSecurityGroups/(${NAME})`;

const IS_FULL_ID = new RegExp(`^${FULL_ID}$`, 'i');
const EITHER = new RegExp(`^(?:${GROUP}/${NAME}|${FULL_ID})$`, 'i');

/** The name of a network security group. Azure names are case-insensitive. */
export interface GroupName {
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly name: string;
}

/** Parses a full resource id. @returns null when the text is not one */
export function parseGroupId(id: string): GroupName | null {
  const [, subscriptionId, resourceGroup, name] = IS_FULL_ID.exec(id) ?? [];
  return subscriptionId && resourceGroup && name ? { subscriptionId, resourceGroup, name } : null;
}

/** The canonical identifier: the full resource id in lower case. */
const nameTarget: ResourceTypeFacts['nameTarget'] = ({ identifier, hints }) => {
  const given = identifier.toLowerCase();
  const [resourceGroup, name] = given.split('/');
  const id = given.startsWith('/')
    ? given
    : `/subscriptions/${hints.subscriptionId?.toLowerCase() ?? ''}/resourcegroups/${resourceGroup}` +
      `/providers/microsoft.network/networksecuritygroups/${name}`;
  return { key: `AZURE:network-security-group:${id}`, identifier: id };
};

/** The custom role that the app needs. */
const POLICY = `{
  "Name": "Drawbridge <subscription>",
  "Description": "Adds rules to network security groups and takes them out again",
  "AssignableScopes": ["/subscriptions/<subscription>"],
  "Actions": [
    "Microsoft.Authorization/locks/read",
    "Microsoft.Authorization/permissions/read",
    "Microsoft.Network/locations/operations/read",
    "Microsoft.Network/locations/operationResults/read",
    "Microsoft.Network/networkSecurityGroups/read",
    "Microsoft.Network/networkSecurityGroups/securityRules/read",
    "Microsoft.Network/networkSecurityGroups/securityRules/write",
    "Microsoft.Network/networkSecurityGroups/securityRules/delete"
  ],
  "NotActions": []
}
`;

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
  aliases: { tenant: 'tenantId', appId: 'clientId' },
};

export const AZURE_FACTS: ProviderFacts = {
  provider: 'AZURE',
  label: 'Azure',
  variables: ['AZURE_AUTHORITY_HOST', 'AZURE_RESOURCE_MANAGER_URL'],
  traits: {
    // Each change is one write, and a group processes one write at a time.
    batchSize: 10,
    callPerRule: true,
    // Azure's network service allows 1000 writes in five minutes per subscription.
    writeBudget: { burst: 200, refillPerSecond: 3 },
    writeSpacing: { usualMs: 500, burstMs: 500, burstSize: 10 },
    oneWriteAtATime: true,
    callTimeoutMs: 20_000,
  },
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
      setup: (trust) => trustSetup(trust, POLICY),
    },
  },
  resourceTypes: {
    NETWORK_SECURITY_GROUP: {
      label: 'Network security group',
      identifier: {
        pattern: EITHER,
        example: 'production/web-servers',
        description: 'the resource group and the name of the network security group, or its full id',
      },
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
      nameTarget,
    },
  },
  region: null,
  revocation: {
    cutsConnections: 'depends',
    words:
      'Established connections live on, unless flushConnection is enabled on the network security group: then they are looked at again with every change of its rules.',
  },
  policy: POLICY,
};
