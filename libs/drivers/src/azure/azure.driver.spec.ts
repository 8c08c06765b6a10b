import { type ChangeResult, type ResourceConfig, ruleKey, type RuleSpec } from '#rules';
import type { CloudDriver, CloudTarget, RuleChange } from '../provider-driver';
import { duringTests, type Reply, ScriptedApi, thrown } from '../scripted-server.testing';
import { createAzureDriver } from './azure.driver';
import { ruleName, securityRuleOf } from './rule-mapping';

const RULE_ID = '0b6f4e0c-8a43-4f57-9d4e-0a2b6c1d9e77';
const MARK = { deployment: 'prod', ruleId: RULE_ID, expiresAt: null };
const SSH: RuleSpec = { address: '203.0.113.7/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] };
const SECRET = 'the-client-secret';
const ID =
  '/subscriptions/00000000-0000-4000-8000-000000000001/resourcegroups/group/providers/microsoft.network/networksecuritygroups/nsg';
const NAME = ruleName(SSH, 'prod');

const target = (clientSecret = SECRET): CloudTarget => ({
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
const add = (spec = SSH, config: ResourceConfig = {}): RuleChange => ({
  action: 'add',
  ruleId: RULE_ID,
  spec,
  mark: MARK,
  config,
});
const remove = (providerRuleId: string): RuleChange => ({
  action: 'remove',
  ruleId: RULE_ID,
  providerRuleId,
});

/** A fake Azure: a route is a method and the last two parts of a path. */
const scriptedAzure = (): ScriptedApi =>
  new ScriptedApi(({ method, path }) => `${method} ${path.split('/').slice(-2).join('/')}`);

const rule = (name: string, priority: number, changed: object = {}): object => {
  const { description: _, ...properties } = securityRuleOf(SSH, MARK, priority);
  return { name, properties: { ...properties, provisioningState: 'Succeeded', ...changed } };
};
const own = (name: string, priority: number, changed: object = {}): object =>
  rule(name, priority, { description: securityRuleOf(SSH, MARK, priority).description, ...changed });
const refusal = (status: number, code: string): Reply => ({
  status,
  body: { error: { code, message: 'no' } },
});

const LIST = 'GET nsg/securityRules';
const PUT = `PUT securityRules/${NAME}`;
const GET = `GET securityRules/${NAME}`;
const DELETE = `DELETE securityRules/${NAME}`;

/** Response headers that point to an asynchronous operation. */
const operationHeaders = (id: string, host: ScriptedApi): Record<string, string> => ({
  'azure-asyncoperation': `${host.url}/operations/${id}`,
});

describe('Azure driver', () => {
  const azure = duringTests(scriptedAzure());
  /** a second host that must not be called */
  const elsewhere = duringTests(scriptedAzure());
  let driver: CloudDriver;

  // one addition succeeds
  beforeEach(() => {
    azure.clear();
    azure
      .on('POST v2.0/token', { body: { access_token: 'a-token', expires_in: 3599, token_type: 'Bearer' } })
      .on(LIST, { body: { value: [] } })
      .on('GET Microsoft.Authorization/locks', { body: { value: [] } })
      .on(PUT, { status: 201, body: own(NAME, 1000), headers: operationHeaders('one', azure) })
      .on(GET, { body: own(NAME, 1000) })
      .on('GET operations/one', { body: { status: 'Succeeded' } });
    const environment = { AZURE_AUTHORITY_HOST: azure.url, AZURE_RESOURCE_MANAGER_URL: `${azure.url}/` };
    driver = createAzureDriver(environment, { callTimeoutMs: 7000 });
  });

  /** @returns the result of the first change */
  const apply = async (...changes: RuleChange[]): Promise<ChangeResult> =>
    (await driver.applyChanges(target(), changes))[0]!;

  describe('tokens', () => {
    const tokenRequests = (): number => azure.calls.filter(({ path }) => path.endsWith('/token')).length;

    it('are requested once and sent in the header of each call', async () => {
      await Promise.all([driver.readRules(target()), driver.readRules(target())]);
      await driver.readRules(target());
      expect(tokenRequests()).toBe(1);
      const [, call] = azure.calls;
      expect(call!.headers.authorization).toBe('Bearer a-token');
      expect(Object.keys(call!.headers).filter((name) => name.startsWith('x-drawbridge'))).toEqual([]);
    });

    it('are requested with the fields of the credential only', async () => {
      await driver.readRules(target());
      expect(azure.calls[0]!.path).toBe('/00000000-0000-4000-8000-000000000002/oauth2/v2.0/token');
      expect(Object.fromEntries(new URLSearchParams(azure.calls[0]!.body))).toEqual({
        grant_type: 'client_credentials',
        client_id: '00000000-0000-4000-8000-000000000003',
        client_secret: SECRET,
        scope: `${azure.url}/.default`,
      });
    });

    it('are cached by secret', async () => {
      await driver.readRules(target());
      await driver.readRules(target('another'));
      expect(tokenRequests()).toBe(2);
    });

    it.each([
      ['expired', refusal(401, 'ExpiredAuthenticationToken'), 'transient'],
      ['refused', refusal(403, 'AuthorizationFailed'), 'denied'],
    ])('that are %s are requested again by the next call', async (_, reply, kind) => {
      azure.on(LIST, reply, { body: { value: [] } });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind });
      expect((await driver.readRules(target())).rules).toEqual([]);
      expect(tokenRequests()).toBe(2);
    });

    it.each([
      ['no token', {}],
      ['no lifetime', { access_token: 'x' }],
      ['a line break', { access_token: 'x\r\ny: z', expires_in: 3599 }],
    ])('are not accepted with %s', async (_, body) => {
      azure.on('POST v2.0/token', { body });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    });
  });

  it('verify succeeds when the credential may not list its permissions', async () => {
    azure
      .on('GET networkSecurityGroups/nsg', { body: { name: 'nsg' } })
      .on('GET Microsoft.Authorization/permissions', refusal(403, 'AuthorizationFailed'));
    await driver.verify(target(), {});
    expect(azure.steps).toEqual(['GET nsg', 'GET securityRules', 'GET permissions', 'GET locks']);
  });

  describe('URLs of other hosts', () => {
    it('are not called for a next page', async () => {
      azure.on(LIST, { body: { value: [], nextLink: `${elsewhere.url}${ID}/securityRules` } });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
      expect(elsewhere.calls).toEqual([]);
    });

    it('are not called for an operation', async () => {
      azure.on(PUT, { status: 201, body: own(NAME, 1000), headers: operationHeaders('one', elsewhere) });
      expect(await apply(add())).toMatchObject({ result: 'unknown' });
      expect(elsewhere.calls).toEqual([]);
    });

    it.each([LIST, 'POST v2.0/token'])('are not called after a redirect of %s', async (call) => {
      azure.on(call, { status: 307, headers: { location: `${elsewhere.url}/` } });
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
      expect(elsewhere.calls).toEqual([]);
    });
  });

  it('takes a rule list with a repeated page link for an unexpected response', async () => {
    azure.on(LIST, { body: { value: [], nextLink: `${azure.url}${ID}/securityRules` } });
    expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
  });

  const malformed: [string, Reply][] = [
    ['a value that is not a list', { body: { value: 'nothing' } }],
    ['rules without names', { body: { value: [{ properties: {} }] } }],
    ['an empty response', {}],
  ];
  it.each(malformed)('treats %s as transient for a read and unknown for a write', async (_, reply) => {
    azure.on(LIST, reply);
    expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    azure.on(LIST, { body: { value: [] } }).on(PUT, reply);
    expect(await apply(add())).toMatchObject({ result: 'unknown' });
  });

  it.each(malformed.filter(([name]) => name !== 'an empty response'))(
    'does not treat %s as confirmation of a removal',
    async (_, reply) => {
      azure.on(DELETE, reply);
      expect(await apply(remove(NAME))).toMatchObject({ result: 'unknown' });
    },
  );

  it('masks a secret that Azure quotes', async () => {
    azure.on('POST v2.0/token', {
      status: 401,
      body: { error: 'invalid_client', error_description: `AADSTS7000215: not ${SECRET}` },
    });
    const { message } = await thrown(driver.checkCredential(target().credential));
    expect(message).toBe('invalid_client: AADSTS7000215: not [secret]');
  });

  const priorities = (): number[] =>
    azure.calls
      .filter(({ method }) => method === 'PUT')
      .map(({ body }) => (JSON.parse(body) as { properties: { priority: number } }).properties.priority);

  describe('asynchronous operations', () => {
    it('are polled by Location', async () => {
      const headers = { location: `${azure.url}/operationResults/one` };
      azure.on(DELETE, { status: 202, headers });
      azure.on('GET operationResults/one', { status: 202, headers }, { status: 204 });
      expect(await apply(remove(NAME))).toEqual({ result: 'done', providerRuleId: null });
      expect(azure.steps).toEqual(['GET securityRules', `DELETE ${NAME}`, 'GET one', 'GET one']);
    });

    it('are unknown, and later changes retryable, when the credential may read neither operation nor rule', async () => {
      azure
        .on(PUT, {
          status: 201,
          headers: operationHeaders('one', azure),
          body: own(NAME, 1000, { provisioningState: 'Updating' }),
        })

        .on('GET operations/one', refusal(403, 'AuthorizationFailed'))
        .on(GET, refusal(403, 'AuthorizationFailed'));
      const other = { ...SSH, address: '203.0.113.8/32' };
      const results = await driver.applyChanges(target(), [add(), add(other)]);
      expect(results).toMatchObject([{ result: 'unknown' }, { result: 'refused', kind: 'transient' }]);
    });

    it('that fail are refused with the message of the operation', async () => {
      const body = { status: 'Failed', error: { code: 'SecurityRuleCountLimitReached', message: 'full' } };
      azure.on('GET operations/one', { body: { status: 'InProgress' } }, { body });
      expect(await apply(add())).toEqual({
        result: 'refused',
        kind: 'quota',
        message: 'SecurityRuleCountLimitReached: full',
      });
    });

    it('that exceed the deadline are unknown, and no further change is sent', async () => {
      azure.on('GET operations/one', { body: { status: 'InProgress' } });
      const results = await driver.applyChanges(target(), [add(), add({ ...SSH, protocol: 'udp' })]);
      expect(results.map(({ result }) => result)).toEqual(['unknown', 'refused']);
      expect(azure.calls.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    });

    it.each([
      ['fails', refusal(500, 'InternalServerError')],
      ['is refused', refusal(404, 'OperationNotFound')],
      ['is throttled', refusal(429, 'TooManyRequests')],
    ])('are unknown when the poll %s', async (_, reply) => {
      azure.on('GET operations/one', reply);
      expect(await apply(add())).toMatchObject({ result: 'unknown' });
    });
  });

  describe('rule priorities', () => {
    it('use the first one that no inbound rule has', async () => {
      const value = [
        rule('a', 1000),
        rule('b', 1001, { access: 'Deny' }),
        rule('c', 1002, { direction: 'Outbound' }),
      ];
      azure.on(LIST, { body: { value } });
      await driver.applyChanges(target(), [add({ ...SSH, address: '198.51.100.1/32' })]);
      expect(priorities()).toEqual([1002]);
    });

    it('that another writer took meanwhile are skipped after reading the rules again', async () => {
      azure.on(
        LIST,
        { body: { value: [] } },
        { body: { value: [rule('rival', 1000, { protocol: 'Udp' })] } },
      );
      azure.on(PUT, refusal(400, 'SecurityRuleConflict'), {
        status: 201,
        body: own(NAME, 1001),
        headers: operationHeaders('one', azure),
      });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME, isNew: true });
      expect(priorities()).toEqual([1000, 1001]);
    });

    it('are retried a limited number of times', async () => {
      azure.on(PUT, refusal(400, 'SecurityRuleConflict'));
      expect(await apply(add())).toMatchObject({ result: 'refused', kind: 'conflict' });
      expect(priorities()).toHaveLength(5);
    });
  });

  describe('existing rules', () => {
    it('with our name that are not ours are not overwritten', async () => {
      azure.on(LIST, { body: { value: [rule(NAME, 1000, { protocol: 'Udp' })] } });
      azure.on(`PUT securityRules/${NAME}-2`, { status: 201, body: own(`${NAME}-2`, 1001) });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: `${NAME}-2`, isNew: true });
    });

    it('with neither our mark nor a name of ours are not removed', async () => {
      azure.on(LIST, { body: { value: [rule('office', 1000)] } });
      expect(await apply(remove('office'))).toMatchObject({ result: 'refused', kind: 'conflict' });
      expect(azure.steps).toEqual(['GET securityRules']);
    });

    it('without our mark are reported after a denying rule and overwritten with the same priority', async () => {
      const denying = rule('no', 900, { access: 'Deny', sourceAddressPrefix: '*' });
      azure.on(LIST, { body: { value: [denying, rule(NAME, 1234)] } });
      expect((await driver.readRules(target())).rules).toMatchObject([
        { key: ruleKey(SSH), providerRuleId: NAME, ownRuleId: null, inForce: false },
      ]);
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME });
      expect(priorities()).toEqual([1234]);
    });

    it('that are missing in the list are removed anyway, because the list may be outdated', async () => {
      azure.on(DELETE, { status: 204 });
      expect(await apply(remove(NAME))).toEqual({ result: 'done', providerRuleId: null, wasAbsent: true });
      expect(azure.steps).toEqual(['GET securityRules', `DELETE ${NAME}`]);
    });

    it.each([
      ['has failed', { provisioningState: 'Failed' }],
      ['was changed to deny', { access: 'Deny' }],
    ])('of ours are overwritten with the same priority when one %s', async (_, changed) => {
      azure.on(LIST, { body: { value: [own(NAME, 1234, changed)] } });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME });
      expect(priorities()).toEqual([1234]);
    });

    it('that Azure is still writing are unknown and not written again', async () => {
      azure.on(LIST, { body: { value: [own(NAME, 1000, { provisioningState: 'Updating' })] } });
      expect(await apply(add())).toMatchObject({ result: 'unknown' });
      expect(azure.steps).toEqual(['GET securityRules']);
      expect((await driver.readRules(target())).rules).toMatchObject([
        { ownRuleId: RULE_ID, inForce: false },
      ]);
    });
  });
});
