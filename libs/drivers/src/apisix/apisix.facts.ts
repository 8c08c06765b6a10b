import type { DriverTraits } from '../provider-driver';
import { USUAL, type ProviderFacts, type ResourceTypeFacts, type Revocation } from '../provider-facts';
import { readTenantUrl, tenantUrlRefusal } from '../tenant-url/tenant-url';

/** The types of objects that support the plugin `ip-restriction`, with their collections in the Admin API. */
export const COLLECTIONS: Readonly<Record<string, string>> = {
  ROUTE: 'routes',
  SERVICE: 'services',
  CONSUMER_GROUP: 'consumer_groups',
  PLUGIN_CONFIG: 'plugin_configs',
  GLOBAL_RULE: 'global_rules',
};

const NAMES: Readonly<Record<string, string>> = {
  ROUTE: 'route',
  SERVICE: 'service',
  CONSUMER_GROUP: 'consumer group',
  PLUGIN_CONFIG: 'plugin config',
  GLOBAL_RULE: 'global rule',
};

/** An object's id. It becomes part of a URL path. */
const ID = /^(?!\.{1,2}$)[\w.-]{1,64}$/;
/** The default keys of APISIX (CVE-2020-13945). */
const DEFAULT_KEYS = ['edd1c9f034335f136f87ad84b625c8f1', '4054f7cf07e344346cd3f287985e76a2'];

/** The canonical URL of a gateway. The URL of its Admin API is accepted too. */
export const gatewayOf = (adminUrl: string): string =>
  (readTenantUrl(adminUrl)?.text ?? adminUrl).replace(/\/apisix(\/admin)?$/, '');

function resourceType(type: string): ResourceTypeFacts {
  return {
    label: `${NAMES[type]![0]!.toUpperCase()}${NAMES[type]!.slice(1)}`,
    traits: TRAITS,
    ...USUAL,
    policy: POLICY,
    revocation: REVOCATION,
    identifier: {
      pattern: ID,
      example: type === 'ROUTE' ? 'orders-api' : '1',
      description: `the id of the ${NAMES[type]}`,
    },
    // A whitelist contains addresses only.
    portsPerRule: 'none',
    config: [],
    // Ids are case-sensitive.
    nameTarget: ({ identifier, hints }) => ({
      key: `APISIX:${gatewayOf(hints.adminUrl ?? '')}:${COLLECTIONS[type]}/${identifier}`,
      identifier,
    }),
  };
}

const TRAITS: DriverTraits = {
  // Each write replaces the complete list.
  batchSize: 500,
  wholeList: true,
  // Each write is an etcd transaction, after which every gateway worker reloads the object.
  writeBudget: { burst: 50, refillPerSecond: 10 },
  writeSpacing: { usualMs: 200, burstMs: 1000, burstSize: 50 },
  callTimeoutMs: 5000,
};

const REVOCATION: Revocation = {
  cutsConnections: 'no',
  words:
    'What is under way goes on: a request that is being answered, a WebSocket that is open. The next request is refused, on open connections too.',
};

const POLICY = `# conf/config.yaml of the gateway: a key of its own for Drawbridge, and where it may come from.
# Roles of the Admin API are admin and viewer; changing a list takes admin.
deployment:
  admin:
    admin_key:
      - name: drawbridge
        key: <a long random text>
        role: admin
    allow_admin:
      - <Drawbridge's own address>/32
`;

export const APISIX_FACTS: ProviderFacts = {
  provider: 'APISIX',
  label: 'Apache APISIX',
  variables: ['TENANT_URL_NETWORKS'],
  credentialTypes: {
    ADMIN_KEY: {
      label: 'Admin API key',
      required: ['adminUrl', 'adminKey'],
      optional: [],
      descriptions: {
        adminUrl: "where the gateway's Admin API is, with or without /apisix/admin",
        adminKey: 'a key of the Admin API with the role admin',
      },
      forms: {
        adminUrl: {
          pattern: /^https?:\/\/([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?(\/[\w./~-]*)?$/i,
          words: 'must be an http or https address without user, query or fragment',
          example: 'https://gateway.example.com:9180',
          refusal: tenantUrlRefusal,
        },
        adminKey: {
          pattern: /^[\x21-\x7e]+$/,
          words: 'must be visible ASCII characters only',
          example: 'a-long-random-text',
          refusal: (key) =>
            DEFAULT_KEYS.includes(key)
              ? 'must not be the key that APISIX is shipped with: everybody knows it'
              : null,
        },
      },
      hints: ['adminUrl'],
      fixedHints: ['adminUrl'],
    },
  },
  resourceTypes: Object.fromEntries(Object.keys(COLLECTIONS).map((type) => [type, resourceType(type)])),
};
