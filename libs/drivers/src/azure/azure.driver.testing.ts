import type { ResourceConfig, RuleSpec } from '#rules';
import type { CloudTarget, CloudDriver, RuleChange } from '../provider-driver';
import { duringTests, ScriptedApi, type Reply } from '../scripted-server.testing';
import { createAzureDriver } from './azure.driver';
import { ruleName, securityRuleOf } from './rule-mapping';

export const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
const MARK = { deployment: 'prod', ruleId: RULE_ID, expiresAt: null };
export const SSH: RuleSpec = { address: '203.0.113.7/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] };
export const SECRET = 'the-client-secret';
export const ID =
  '/subscriptions/00000000-0000-4000-8000-000000000001/resourcegroups/group/providers/microsoft.network/networksecuritygroups/nsg';
export const NAME = ruleName(SSH, 'prod');

export const target = (clientSecret = SECRET): CloudTarget => ({
  resourceType: 'NETWORK_SECURITY_GROUP',
  identifier: ID,
  region: null,
  credential: {
    credentialType: 'SERVICE_PRINCIPAL',
    externalId: null,
    identity: null,
    data: {
      tenantId: '00000000-0000-4000-8000-000000000002',
      clientId: '00000000-0000-4000-8000-000000000003',
      subscriptionId: '00000000-0000-4000-8000-000000000001',
      clientSecret,
    },
  },
  deployment: 'prod',
  claims: new Map(),
});
export const add = (spec = SSH, config: ResourceConfig = {}): RuleChange => ({
  action: 'add',
  ruleId: RULE_ID,
  spec,
  mark: MARK,
  config,
});
export const remove = (providerRuleId: string): RuleChange => ({
  action: 'remove',
  ruleId: RULE_ID,
  providerRuleId,
});

/** A fake Azure: a route is a method and the last two parts of a path. */
const scriptedAzure = (): ScriptedApi =>
  new ScriptedApi(({ method, path }) => `${method} ${path.split('/').slice(-2).join('/')}`);

export const rule = (name: string, priority: number, changed: object = {}): object => {
  const { description: _, ...properties } = securityRuleOf(SSH, MARK, priority);
  return { name, properties: { ...properties, provisioningState: 'Succeeded', ...changed } };
};
export const own = (name: string, priority: number, changed: object = {}): object =>
  rule(name, priority, { description: securityRuleOf(SSH, MARK, priority).description, ...changed });
export const refusal = (status: number, code: string): Reply => ({
  status,
  body: { error: { code, message: 'no' } },
});

export const LIST = 'GET nsg/securityRules';
export const PUT = `PUT securityRules/${NAME}`;
export const GET = `GET securityRules/${NAME}`;
export const DELETE = `DELETE securityRules/${NAME}`;

/** Response headers that point to an asynchronous operation. */
export const operationHeaders = (id: string, host: ScriptedApi): Record<string, string> => ({
  'azure-asyncoperation': `${host.url}/operations/${id}`,
});

/** A driver with a scripted Azure, whose replies let one addition succeed. */
export class AzureFixture {
  readonly azure = duringTests(scriptedAzure());
  /** a second host that must not be called */
  readonly elsewhere = duringTests(scriptedAzure());

  /** For the tests of a block. */
  constructor() {
    beforeEach(() => {
      this.azure.clear();
      this.azure
        .on('POST v2.0/token', { body: { access_token: 'a-token', expires_in: 3599, token_type: 'Bearer' } })
        .on(LIST, { body: { value: [] } })
        .on('GET Microsoft.Authorization/locks', { body: { value: [] } })
        .on(PUT, { status: 201, body: own(NAME, 1000), headers: operationHeaders('one', this.azure) })
        .on(GET, { body: own(NAME, 1000) })
        .on('GET operations/one', { body: { status: 'Succeeded' } });
    });
  }

  newDriver(): CloudDriver {
    const { url } = this.azure;
    const environment = { AZURE_AUTHORITY_HOST: url, AZURE_RESOURCE_MANAGER_URL: `${url}/` };
    return createAzureDriver(environment, { callTimeoutMs: 7000 });
  }
}
