import { repairPem } from '../pem';
import type { DriverTraits } from '../provider-driver';
import {
  TRAFFIC_FIELDS,
  USUAL,
  type AccountShape,
  type CredentialTypes,
  type ResourceNaming,
  type TargetName,
  type ProviderFacts,
  type Revocation,
} from '../provider-facts';
import { trustSetup } from './trust-setup';

/** The config fields that select instances. */
const LISTS = ['targetTags', 'targetServiceAccounts'] as const;

const PROJECT_ID = '[a-z0-9.:-]{1,100}';
const NETWORK = '[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?';
const POOL_ID = /^[a-z0-9-]{4,32}$/;
const PROVIDER_NAME =
  /^\/\/iam\.googleapis\.com\/projects\/(\d+)\/locations\/global\/workloadIdentityPools\/([a-z0-9-]+)\/providers\/([a-z0-9-]+)$/;
const IMPERSONATION_URL = /\/serviceAccounts\/([^/:]+):generateAccessToken$/;
const SPELLING = new RegExp(`^(?:projects/(${PROJECT_ID})/global/networks/)?(${NETWORK})$`, 'i');

/** The custom role that a service account or a principal needs. */
const POLICY = `title: Drawbridge
stage: GA
includedPermissions:
  - compute.firewalls.create
  - compute.firewalls.delete
  - compute.firewalls.get
  - compute.firewalls.list
  - compute.firewalls.update
  - compute.globalOperations.get
  - compute.networks.get
  - compute.networks.getEffectiveFirewalls
  - compute.networks.updatePolicy
`;

const PROJECT = {
  pattern: new RegExp(`^${PROJECT_ID}$`),
  words: 'must be the id of a Google Cloud project',
  example: 'production-123456',
};

const ACCOUNT: AccountShape = {
  noun: 'project',
  pattern: PROJECT.pattern,
  example: PROJECT.example,
  of: ({ project_id: project = null }) => project,
  isDefault: true,
  fill: (fields, account) => ({ ...fields, project_id: account }),
  isListed: () => true,
};

/** Google's key JSON. Its URLs (`token_uri`) are ignored: they would determine where the signed assertion is sent. */
const CREDENTIAL_TYPES: CredentialTypes = {
  SERVICE_ACCOUNT: {
    label: 'Service account key',
    required: ['type', 'project_id', 'private_key', 'client_email'],
    optional: ['private_key_id'],
    descriptions: {
      type: 'of the key file, where it is always the same',
      project_id:
        'the project of the service account; networks are looked for there unless they name another one',
      private_key: 'of the key file, with its line breaks',
      client_email: 'of the key file: the e-mail address of the service account',
      private_key_id: 'of the key file: helps to tell keys apart',
    },
    forms: {
      type: {
        pattern: /^service_account$/,
        words:
          'must be service_account: no other kind of key is taken; a file of the type external_account belongs to the credentialType FEDERATION',
        example: 'service_account',
      },
      project_id: PROJECT,
      private_key: {
        pattern: /^-----BEGIN (RSA )?PRIVATE KEY-----\n[\w+/=\s]+-----END (RSA )?PRIVATE KEY-----$/,
        words: 'must be a private key in PEM: the whole value of private_key in the key file',
        example: '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----',
        repair: repairPem,
      },
      client_email: {
        pattern: /^[^\s@]{1,200}@[\w.-]{1,200}$/,
        words: 'must be the e-mail address of the service account',
        example: 'drawbridge@production-123456.iam.gserviceaccount.com',
      },
    },
    hints: ['project_id', 'client_email', 'private_key_id'],
    // A network without a project is in the key's project.
    fixedHints: ['project_id'],
    account: ACCOUNT,
  },
  FEDERATION: {
    label: 'Workload identity, without a secret',
    required: ['project_id', 'projectNumber', 'poolId', 'providerId'],
    optional: ['serviceAccountEmail'],
    descriptions: {
      project_id: 'the project in which networks are looked for that do not name another one',
      projectNumber: 'the number of the project that has the workload identity pool',
      poolId: 'the id of the workload identity pool',
      providerId: 'the id of the provider in the pool that trusts your issuer',
      serviceAccountEmail:
        'the service account to act as; left out: the principal of the pool has the permissions itself',
    },
    forms: {
      project_id: {
        ...PROJECT,
        missing: 'must be the id of the project whose networks are meant',
      },
      projectNumber: {
        pattern: /^\d{6,20}$/,
        words: 'must be the number of a Google Cloud project, not its id',
        example: '123456789012',
        missing:
          "must be the project's number, as a text: gcloud projects describe prints it; a key file belongs to SERVICE_ACCOUNT",
      },
      poolId: {
        pattern: POOL_ID,
        words: 'must be the id of a pool',
        example: 'drawbridge',
        missing: 'must be the id that the pool has or will have',
      },
      providerId: {
        pattern: POOL_ID,
        words: 'must be the id of a provider',
        example: 'main',
        missing: 'must be the id that the provider in the pool has or will have',
      },
      serviceAccountEmail: {
        pattern: /^[\w.-]{1,200}@[\w.-]{1,200}$/,
        words: 'must be the e-mail address of the service account',
        example: 'drawbridge@production-123456.iam.gserviceaccount.com',
      },
    },
    hints: ['project_id', 'projectNumber', 'poolId', 'providerId', 'serviceAccountEmail'],
    fixedHints: ['project_id'],
    account: ACCOUNT,
    needsIssuer: true,
    parse: idsOfExternalAccount,
    setup: trustSetup,
    scope: {
      pattern: /^(organizations|folders)\/\d{1,30}$/,
      words: 'must look like folders/123456789012 or organizations/123456789012',
      example: 'folders/123456789012',
    },
  },
};

/**
 * The ids in the configuration file that gcloud writes for external accounts. Nothing else of it is read: its URLs,
 * commands and files would determine where tokens are sent, and what is read or run here.
 */
function idsOfExternalAccount(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const [, projectNumber, poolId, providerId] = PROVIDER_NAME.exec(textOf(given['audience'])) ?? [];
  const [, email] = IMPERSONATION_URL.exec(textOf(given['service_account_impersonation_url'])) ?? [];
  return {
    ...(projectNumber && poolId && providerId && { projectNumber, poolId, providerId }),
    ...(email && { serviceAccountEmail: email }),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 1000) : '');

const TRAITS: DriverTraits = {
  // One write per rule: as many as complete within one deadline.
  batchSize: 50,
  // Compute allows 750 heavy writes per minute and project, shared with other users of the project.
  writeBudget: { burst: 100, refillPerSecond: 10 },
  callPerRule: true,
  writeSpacing: { usualMs: 1000, burstMs: 3000, burstSize: 20 },
  // A write completes with its operation, which takes some seconds.
  callTimeoutMs: 20_000,
};

const REVOCATION: Revocation = {
  cutsConnections: 'no',
  words: 'VPC firewall rules track connections: one that is established stays open as long as it is busy.',
};

export const GCP_FACTS: ProviderFacts = {
  provider: 'GCP',
  label: 'Google Cloud',
  variables: [
    'GCP_COMPUTE_URL',
    'GCP_RESOURCE_MANAGER_URL',
    'GOOGLE_IAM_CREDENTIALS_URL',
    'GOOGLE_OAUTH_TOKEN_URL',
    'GOOGLE_STS_URL',
  ],
  credentialTypes: CREDENTIAL_TYPES,
  resourceTypes: {
    FIREWALL: {
      label: 'VPC network',
      traits: TRAITS,
      ...USUAL,
      policy: POLICY,
      revocation: REVOCATION,
      identifier: {
        pattern: SPELLING,
        example: 'default',
        description:
          'the name of the VPC network; projects/{project}/global/networks/{name} in another project',
      },
      portsPerRule: 'many',
      config: [
        ...TRAFFIC_FIELDS,
        {
          name: 'targetTags',
          type: 'texts',
          description: 'lets in to the instances with one of these network tags only',
          example: ['database'],
        },
        {
          name: 'targetServiceAccounts',
          type: 'texts',
          description:
            'lets in to the instances that run as one of these service accounts only, instead of targetTags',
          example: ['database@production-123456.iam.gserviceaccount.com'],
        },
        {
          name: 'priority',
          type: 'integer',
          description: 'the priority of the rules, 1000 when left out; a smaller number comes first',
          example: 900,
        },
      ],
      accountOf: (identifier) => SPELLING.exec(identifier)?.[1]?.toLowerCase(),
      nameTarget,
    },
  },
};

export const DEFAULT_PRIORITY = 1000;

/**
 * A target is a network, the instances that its rules apply to, and their priority: rules for other instances or with
 * another priority belong to another target, so that a changed config replaces the rules.
 */
function nameTarget({ identifier, config, hints }: ResourceNaming): TargetName {
  const [, project, network = ''] = SPELLING.exec(identifier) ?? [];
  const path = `projects/${project ?? hints['project_id'] ?? ''}/global/networks/${network}`.toLowerCase();
  const { priority } = config;
  const parts = [
    ...LISTS.flatMap((name) => {
      const items = Array.isArray(config[name]) ? [...new Set(config[name].map(String))].toSorted() : [];
      return items.length === 0 ? [] : [`${name}=${items.join(',')}`];
    }),
    ...(typeof priority === 'number' && priority !== DEFAULT_PRIORITY ? [`priority=${priority}`] : []),
  ];
  const tail = parts.length === 0 ? '' : `?${parts.join('&')}`;
  return { key: `GCP:firewall:${path}${tail}`, identifier: `${path}${tail}` };
}
