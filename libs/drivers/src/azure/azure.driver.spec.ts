import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { ruleKey, type ChangeResult, type ResourceConfig, type RuleSpec } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget, ProviderDriver, RuleChange } from '../provider-driver';
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

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** a text goes as it is, anything else as JSON */
  readonly body?: unknown;
}

/** Says what the case at hand wants said: the next reply for a path, the last one of them again and again. */
class ScriptedAzure {
  readonly calls: Call[] = [];
  private readonly replies = new Map<string, Reply[]>();
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0]!;
      const method = request.method ?? '';
      this.calls.push({ method, path, headers: request.headers, body: Buffer.concat(chunks).toString() });
      const queue = this.replies.get(`${method} ${path.split('/').slice(-2).join('/')}`) ?? [];
      const {
        status = 200,
        headers = {},
        body,
      } = (queue.length > 1 ? queue.shift() : queue[0]) ?? { status: 500 };
      const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    });
  });

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('It listens on no port');
    return `http://127.0.0.1:${address.port}`;
  }

  /** What was called, tokens apart. */
  get steps(): string[] {
    return this.calls
      .filter(({ path }) => !path.endsWith('/token'))
      .map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);
  }

  on(call: string, ...replies: Reply[]): this {
    this.replies.set(call, replies);
    return this;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }
}

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

describe('Azure driver', () => {
  let azure: ScriptedAzure;
  let elsewhere: ScriptedAzure;
  let driver: ProviderDriver;

  beforeEach(async () => {
    azure = new ScriptedAzure();
    elsewhere = new ScriptedAzure();
    await Promise.all([azure.open(), elsewhere.open()]);
    driver = createAzureDriver(
      { AZURE_AUTHORITY_HOST: azure.url, AZURE_RESOURCE_MANAGER_URL: `${azure.url}/` },
      7000,
    );
    azure
      .on('POST v2.0/token', { body: { access_token: 'a-token', expires_in: 3599, token_type: 'Bearer' } })
      .on(LIST, { body: { value: [] } })
      .on(PUT, { status: 201, body: own(NAME, 1000), headers: links('one') })
      .on(GET, { body: own(NAME, 1000) })
      .on('GET operations/one', { body: { status: 'Succeeded' } });
  });
  afterEach(() => Promise.all([azure.close(), elsewhere.close()]));

  const links = (id: string, host = azure): Record<string, string> => ({
    'azure-asyncoperation': `${host.url}/operations/${id}`,
  });
  const apply = async (...changes: RuleChange[]): Promise<ChangeResult> =>
    (await driver.applyChanges(target(), changes))[0]!;
  const failure = async (call: Promise<unknown>): Promise<DriverError> => {
    const error: unknown = await call.catch((reason: unknown) => reason);
    if (error instanceof DriverError) return error;
    throw new Error(`It threw ${String(error)}`);
  };
  const priorities = (): number[] =>
    azure.calls
      .filter(({ method }) => method === 'PUT')
      .map(({ body }) => (JSON.parse(body) as { properties: { priority: number } }).properties.priority);

  describe('changes that take their time', () => {
    it('are waited for, by Azure-AsyncOperation', async () => {
      const running = { body: { status: 'InProgress' }, headers: { 'retry-after': '0' } };
      azure.on('GET operations/one', running, running, { body: { status: 'Succeeded' } });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME });
      expect(azure.steps).toEqual([
        'GET securityRules',
        `PUT ${NAME}`,
        'GET one',
        'GET one',
        'GET one',
        `GET ${NAME}`,
      ]);
    });

    it('are waited for, by Location', async () => {
      const headers = { location: `${azure.url}/operationResults/one` };
      azure.on(DELETE, { status: 202, headers });
      azure.on('GET operationResults/one', { status: 202, headers }, { status: 204 });
      expect(await apply(remove(NAME))).toEqual({ result: 'done', providerRuleId: null });
      expect(azure.steps).toEqual(['GET securityRules', `DELETE ${NAME}`, 'GET one', 'GET one']);
    });

    it('are watched by the state of the rule where the credential may not poll', async () => {
      azure
        .on(PUT, {
          status: 201,
          headers: links('one'),
          body: own(NAME, 1000, { provisioningState: 'Updating' }),
        })

        .on('GET operations/one', refusal(403, 'AuthorizationFailed'))
        .on(
          GET,
          { body: own(NAME, 1000, { provisioningState: 'Updating' }) },
          { body: own(NAME, 1234) },
          { body: own(NAME, 1000) },
        );
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME });
      expect(azure.steps.slice(2)).toEqual(['GET one', `GET ${NAME}`, `GET ${NAME}`, `GET ${NAME}`]);
    });

    it('are unknown, and the next ones passing, where the credential may watch nothing', async () => {
      azure
        .on(PUT, {
          status: 201,
          headers: links('one'),
          body: own(NAME, 1000, { provisioningState: 'Updating' }),
        })

        .on('GET operations/one', refusal(403, 'AuthorizationFailed'))
        .on(GET, refusal(403, 'AuthorizationFailed'));
      const other = { ...SSH, address: '203.0.113.8/32' };
      const results = await driver.applyChanges(target(), [add(), add(other)]);
      expect(results).toMatchObject([{ result: 'unknown' }, { result: 'refused', kind: 'transient' }]);
    });

    it('may come to nothing: refused, in the words of the operation', async () => {
      const body = { status: 'Failed', error: { code: 'SecurityRuleCountLimitReached', message: 'full' } };
      azure.on('GET operations/one', { body: { status: 'InProgress' } }, { body });
      expect(await apply(add())).toEqual({
        result: 'refused',
        kind: 'quota',
        message: 'SecurityRuleCountLimitReached: full',
      });
    });

    it('are unknown when they outlast the deadline, and nothing is sent after them', async () => {
      azure.on('GET operations/one', { body: { status: 'InProgress' } });
      const results = await driver.applyChanges(target(), [add(), add({ ...SSH, protocol: 'udp' })]);
      expect(results.map(({ result }) => result)).toEqual(['unknown', 'refused']);
      expect(azure.calls.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    }, 20_000);

    it.each([
      ['fails', refusal(500, 'InternalServerError')],
      ['is refused', refusal(404, 'OperationNotFound')],
      ['is throttled', refusal(429, 'TooManyRequests')],
    ])('are unknown when asking for them %s', async (_, reply) => {
      azure.on('GET operations/one', reply);
      expect(await apply(add())).toMatchObject({ result: 'unknown' });
    });
  });

  describe('priorities', () => {
    it('are the first free one among all inbound rules', async () => {
      const value = [
        rule('a', 1000),
        rule('b', 1001, { access: 'Deny' }),
        rule('c', 1002, { direction: 'Outbound' }),
      ];
      azure.on(LIST, { body: { value } });
      await driver.applyChanges(target(), [add({ ...SSH, address: '198.51.100.1/32' })]);
      expect(priorities()).toEqual([1002]);
    });

    it('that someone took meanwhile are left to them: the rules are read again', async () => {
      azure.on(
        LIST,
        { body: { value: [] } },
        { body: { value: [rule('rival', 1000, { protocol: 'Udp' })] } },
      );
      azure.on(PUT, refusal(400, 'SecurityRuleConflict'), {
        status: 201,
        body: own(NAME, 1001),
        headers: links('one'),
      });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME });
      expect(priorities()).toEqual([1000, 1001]);
    });

    it('are not tried for ever', async () => {
      azure.on(PUT, refusal(400, 'SecurityRuleConflict'));
      expect(await apply(add())).toMatchObject({ result: 'refused', kind: 'conflict' });
      expect(priorities()).toHaveLength(5);
    });

    it('run out: the object is full, and nothing is written', async () => {
      azure.on(LIST, {
        body: { value: [rule('a', 200, { protocol: 'Udp' }), rule('b', 201, { protocol: 'Udp' })] },
      });
      expect(await apply(add(SSH, { priorityFrom: 200, priorityTo: 201 }))).toEqual({
        result: 'refused',
        kind: 'quota',
        message: 'No priority from 200 to 201 is free in the network security group',
      });
      expect(priorities()).toEqual([]);
    });
  });

  describe('rules that stand', () => {
    it('under our name without being ours are not written over', async () => {
      azure.on(LIST, { body: { value: [rule(NAME, 1000, { protocol: 'Udp' })] } });
      azure.on(`PUT securityRules/${NAME}-2`, { status: 201, body: own(`${NAME}-2`, 1001) });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: `${NAME}-2` });
    });

    it('under our name without our mark are not removed when they let in something else', async () => {
      azure.on(LIST, { body: { value: [rule(NAME, 1000, { protocol: 'Udp' })] } });
      expect(await apply(remove(NAME))).toMatchObject({ result: 'refused', kind: 'conflict' });
      expect(azure.steps).toEqual(['GET securityRules']);
    });

    it('without our mark are removed as what was written under the name', async () => {
      azure.on(LIST, { body: { value: [rule(`${NAME}-2`, 1000)] } });
      azure.on(`DELETE securityRules/${NAME}-2`, { status: 204 });
      expect(await apply(remove(`${NAME}-2`))).toEqual({ result: 'done', providerRuleId: null });
      expect(azure.steps).toEqual(['GET securityRules', `DELETE ${NAME}-2`]);
    });

    it('without our mark are shown behind a denying rule, and written over where they are', async () => {
      const denying = rule('no', 900, { access: 'Deny', sourceAddressPrefix: '*' });
      azure.on(LIST, { body: { value: [denying, rule(NAME, 1234)] } });
      expect(await driver.readRules(target())).toMatchObject([
        { key: ruleKey(SSH), providerRuleId: NAME, ownRuleId: null, inForce: false },
      ]);
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME });
      expect(priorities()).toEqual([1234]);
    });

    it('and are not in the list are removed all the same: a list can be old', async () => {
      azure.on(DELETE, { status: 204 });
      expect(await apply(remove(NAME))).toEqual({ result: 'done', providerRuleId: null });
      expect(azure.steps).toEqual(['GET securityRules', `DELETE ${NAME}`]);
    });

    it.each([
      ['has failed', { provisioningState: 'Failed' }],
      ['was turned to deny', { access: 'Deny' }],
    ])('and are ours are written over where they are when one %s', async (_, changed) => {
      azure.on(LIST, { body: { value: [own(NAME, 1234, changed)] } });
      expect(await apply(add())).toEqual({ result: 'done', providerRuleId: NAME });
      expect(priorities()).toEqual([1234]);
    });

    it('and are still being written are waited for by reading, not written again', async () => {
      azure.on(LIST, { body: { value: [own(NAME, 1000, { provisioningState: 'Updating' })] } });
      expect(await apply(add())).toMatchObject({ result: 'unknown' });
      expect(azure.steps).toEqual(['GET securityRules']);
      expect(await driver.readRules(target())).toMatchObject([{ ownRuleId: RULE_ID, inForce: false }]);
    });
  });

  it.each([
    [429, 'RetryableError'],
    [409, 'AnotherOperationInProgress'],
  ])('a group that is being changed (HTTP %i %s) is a conflict', async (status, code) => {
    azure.on(PUT, refusal(status, code));
    expect(await apply(add())).toMatchObject({ result: 'refused', kind: 'conflict' });
  });

  describe('other hosts', () => {
    it('get neither call nor token when a next page leads to them', async () => {
      azure.on(LIST, { body: { value: [], nextLink: `${elsewhere.url}${ID}/securityRules` } });
      expect(await failure(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
      expect(elsewhere.calls).toEqual([]);
    });

    it('get neither call nor token when an operation leads to them', async () => {
      azure.on(PUT, { status: 201, body: own(NAME, 1000), headers: links('one', elsewhere) });
      expect(await apply(add())).toMatchObject({ result: 'unknown' });
      expect(elsewhere.calls).toEqual([]);
    });

    it.each([LIST, 'POST v2.0/token'])('get nothing by a redirect of %s', async (call) => {
      azure.on(call, { status: 307, headers: { location: `${elsewhere.url}/` } });
      expect(await failure(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
      expect(elsewhere.calls).toEqual([]);
    });
  });

  describe('lists', () => {
    it('are read to their last page', async () => {
      const nextLink = `${azure.url}${ID}/securityRules?api-version=1&$skiptoken=2`;
      azure.on(LIST, { body: { value: [rule('a', 100)], nextLink } }, { body: { value: [rule('b', 101)] } });
      expect((await driver.readRules(target())).map(({ providerRuleId }) => providerRuleId)).toEqual([
        'a',
        'b',
      ]);
    });

    it('that lead in a circle are no answer', async () => {
      azure.on(LIST, { body: { value: [], nextLink: `${azure.url}${ID}/securityRules` } });
      expect(await failure(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    });
  });

  const odd: [string, Reply][] = [
    ['an HTML page', { body: '<html>502</html>', headers: { 'content-type': 'text/html' } }],
    ['JSON that ends early', { body: '{"value":[{"name":"a"' }],
    ['an error in a success', { body: { error: { code: 'InternalServerError', message: 'no' } } }],
    ['something else', { body: { value: 'nothing' } }],
    ['rules without names', { body: { value: [{ properties: {} }] } }],
    ['ten megabytes', { body: JSON.stringify({ text: 'x'.repeat(10_000_000) }) }],
    ['nothing', {}],
  ];
  it.each(odd)('%s says nothing, neither to a read nor to a write', async (_, reply) => {
    azure.on(LIST, reply);
    expect(await failure(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    azure.on(LIST, { body: { value: [] } }).on(PUT, reply);
    expect(await apply(add())).toMatchObject({ result: 'unknown' });
  });

  it.each(odd.filter(([name]) => name !== 'nothing'))(
    '%s does not say that a rule is removed',
    async (_, reply) => {
      azure.on(DELETE, reply);
      expect(await apply(remove(NAME))).toMatchObject({ result: 'unknown' });
    },
  );

  describe('tokens', () => {
    const asked = (): number => azure.calls.filter(({ path }) => path.endsWith('/token')).length;

    it('are asked for once, and go into the header of each call', async () => {
      await Promise.all([driver.readRules(target()), driver.readRules(target())]);
      await driver.readRules(target());
      expect(asked()).toBe(1);
      const [, call] = azure.calls;
      expect(call!.headers.authorization).toBe('Bearer a-token');
      expect(Object.keys(call!.headers).filter((name) => name.startsWith('x-drawbridge'))).toEqual([]);
    });

    it('are asked for with the credential alone', async () => {
      await driver.readRules(target());
      expect(azure.calls[0]!.path).toBe('/00000000-0000-4000-8000-000000000002/oauth2/v2.0/token');
      expect(Object.fromEntries(new URLSearchParams(azure.calls[0]!.body))).toEqual({
        grant_type: 'client_credentials',
        client_id: '00000000-0000-4000-8000-000000000003',
        client_secret: SECRET,
        scope: `${azure.url}/.default`,
      });
    });

    it('belong to one secret', async () => {
      await driver.readRules(target());
      await driver.readRules(target('another'));
      expect(asked()).toBe(2);
    });

    it.each([
      ['expired', refusal(401, 'ExpiredAuthenticationToken'), 'transient'],
      ['refused', refusal(403, 'AuthorizationFailed'), 'denied'],
    ])('that are %s are asked for anew by the next call', async (_, reply, kind) => {
      azure.on(LIST, reply, { body: { value: [] } });
      expect(await failure(driver.readRules(target()))).toMatchObject({ kind });
      expect(await driver.readRules(target())).toEqual([]);
      expect(asked()).toBe(2);
    });

    it.each([
      ['no token', {}],
      ['no end', { access_token: 'x' }],
      ['a line break', { access_token: 'x\r\ny: z', expires_in: 3599 }],
    ])('are none with %s', async (_, body) => {
      azure.on('POST v2.0/token', { body });
      expect(await failure(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    });
  });

  describe('verify', () => {
    const permissions = (reply: Reply): ScriptedAzure =>
      azure
        .on('GET networkSecurityGroups/nsg', { body: { name: 'nsg' } })
        .on('GET Microsoft.Authorization/permissions', reply);

    it('succeeds with a role that may change the rules', async () => {
      permissions({ body: { value: [{ actions: ['Microsoft.Network/*'], notActions: [] }] } });
      await driver.verify(target());
      expect(azure.steps).toEqual(['GET nsg', 'GET securityRules', 'GET permissions']);
    });

    it('is denied with a role that may not, and names what is missing', async () => {
      permissions({ body: { value: [{ actions: ['*/read'], notActions: [] }] } });
      const { kind, message } = await failure(driver.verify(target()));
      expect(kind).toBe('denied');
      expect(message).toContain(
        'securityRules/write, Microsoft.Network/networkSecurityGroups/securityRules/delete',
      );
    });

    it('is denied when the rules may not be listed', async () => {
      permissions({ body: { value: [] } }).on(LIST, refusal(403, 'AuthorizationFailed'));
      expect(await failure(driver.verify(target()))).toMatchObject({ kind: 'denied' });
    });

    it('succeeds when the credential may not ask what it may do', async () => {
      permissions(refusal(403, 'AuthorizationFailed'));
      await driver.verify(target());
      expect(azure.steps).toEqual(['GET nsg', 'GET securityRules', 'GET permissions']);
    });
  });

  it('nothing listens: nothing was sent', async () => {
    await azure.close();
    expect(await failure(driver.readRules(target()))).toMatchObject({ kind: 'transient' });
    await azure.open();
  });

  it('a secret that Azure repeats gets into no message', async () => {
    azure.on('POST v2.0/token', {
      status: 401,
      body: { error: 'invalid_client', error_description: `AADSTS7000215: not ${SECRET}` },
    });
    const { message } = await failure(driver.checkCredential(target().credential));
    expect(message).toBe('invalid_client: AADSTS7000215: not [secret]');
  });
});
