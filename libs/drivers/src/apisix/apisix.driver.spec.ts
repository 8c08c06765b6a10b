import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ruleKey, type ChangeResult } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget, ProviderDriver, RuleChange } from '../provider-driver';
import { createApisixDriver } from './apisix.driver';

const ADMIN_KEY = 'a-key-of-the-tenant';
const LIST_PATH = '/apisix/admin/routes/r1/plugins/ip-restriction/whitelist';

interface Call {
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  readonly body: string;
}
type Respond = (call: Call, response: ServerResponse) => void;

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const route = (plugins: unknown, key = '/apisix/routes/r1'): unknown => ({
  key,
  value: { id: 'r1', uri: '/*', plugins },
  createdIndex: 1,
  modifiedIndex: 2,
});
const listed = (...whitelist: unknown[]): unknown => route({ 'ip-restriction': { whitelist } });

const add = (address: string): RuleChange => ({
  action: 'add',
  ruleId: `rule of ${address}`,
  spec: { address, protocol: 'all', ports: [] },
  mark: { deployment: 'd', ruleId: `rule of ${address}`, expiresAt: null },
  config: {},
});
const remove = (address: string): RuleChange => ({
  action: 'remove',
  ruleId: `rule of ${address}`,
  providerRuleId: `routes/r1#${address}`,
});
const kinds = (results: readonly ChangeResult[]): string[] =>
  results.map((one) => (one.result === 'refused' ? one.kind : one.result));
const thrown = async (asked: Promise<unknown>): Promise<DriverError> => {
  const error: unknown = await asked.catch((reason: unknown) => reason);
  if (error instanceof DriverError) return error;
  throw new Error(`It gave ${String(error)}`);
};

describe('The APISIX driver, before a gateway that answers as told', () => {
  let server: Server;
  let driver: ProviderDriver;
  let adminUrl: string;
  let calls: Call[];
  let respond: Respond;

  beforeAll(async () => {
    server = createServer((request, response) => void receive(request, response));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    adminUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    driver = createApisixDriver({ TENANT_URL_NETWORKS: '127.0.0.0/8' }, { callTimeoutMs: 500 });
  });
  beforeEach(() => {
    calls = [];
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
    const key = request.headers['x-api-key'] as string | undefined;
    const call = { method: request.method ?? '', url: request.url ?? '', key, body };
    calls.push(call);
    respond(call, response);
  }
  /** A gateway that keeps its list. @param after called after each call, with the list to bend */
  const keeping = (whitelist: string[], after: (call: Call, list: string[]) => void = () => {}): Respond => {
    const list = [...whitelist];
    return (call, response) => {
      if (call.method === 'PATCH') list.splice(0, list.length, ...(JSON.parse(call.body) as string[]));
      json(response, 200, listed(...list));
      after(call, list);
    };
  };
  const target = (claimed: readonly string[] = [], changed: Partial<CloudTarget> = {}): CloudTarget => ({
    resourceType: 'ROUTE',
    identifier: 'r1',
    region: null,
    credential: { credentialType: 'ADMIN_KEY', data: { adminUrl, adminKey: ADMIN_KEY }, externalId: null },
    deployment: 'd',
    claims: new Map(
      claimed.map((address) => [ruleKey({ address, protocol: 'all', ports: [] }), `rule of ${address}`]),
    ),
    ...changed,
  });
  const written = (): unknown[] =>
    calls.filter(({ method }) => method === 'PATCH').map(({ body }) => JSON.parse(body) as unknown);

  it('reads, writes the list and nothing else, and reads it back, with the key in its header', async () => {
    respond = keeping(['10.0.0.0/8']);
    expect(kinds(await driver.applyChanges(target(), [add('203.0.113.7/32')]))).toEqual(['done']);
    expect(calls.map(({ method, url, key }) => [method, url, key])).toEqual([
      ['GET', '/apisix/admin/routes/r1', ADMIN_KEY],
      ['PATCH', LIST_PATH, ADMIN_KEY],
      ['GET', '/apisix/admin/routes/r1', ADMIN_KEY],
    ]);
    expect(written()).toEqual([['0.0.0.0/32', '10.0.0.0/8', '203.0.113.7/32']]);
  });

  it('leaves the sentinel behind when the last address goes', async () => {
    respond = keeping(['0.0.0.0/32', '203.0.113.7/32']);
    expect(kinds(await driver.applyChanges(target(['203.0.113.7/32']), [remove('203.0.113.7/32')]))).toEqual([
      'done',
    ]);
    expect(written()).toEqual([['0.0.0.0/32']]);
  });

  it.each([
    ['ROUTE', 'routes'],
    ['SERVICE', 'services'],
    ['CONSUMER_GROUP', 'consumer_groups'],
    ['PLUGIN_CONFIG', 'plugin_configs'],
    ['GLOBAL_RULE', 'global_rules'],
  ])('finds a %s among the %s', async (resourceType, collection) => {
    respond = (_, response) =>
      json(
        response,
        200,
        route({ 'ip-restriction': { whitelist: ['10.0.0.1'] } }, `/apisix/${collection}/r1`),
      );
    expect(await driver.readRules(target([], { resourceType }))).toEqual([
      { key: '10.0.0.1/32 all *', providerRuleId: `${collection}/r1#10.0.0.1`, ownRuleId: null },
    ]);
    expect(calls[0]?.url).toBe(`/apisix/admin/${collection}/r1`);
  });

  it('reads the older form of the Admin API too', async () => {
    respond = (_, response) => json(response, 200, { action: 'get', node: listed('10.0.0.1') });
    expect(await driver.readRules(target())).toHaveLength(1);
  });

  describe('another program', () => {
    it('that takes our entry out again right after the write is seen', async () => {
      respond = keeping([], ({ method }, list) => {
        if (method === 'PATCH') list.pop();
      });
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.7/32')]))).toEqual(['conflict']);
    });

    it('that puts its own beside ours right after the write loses nothing', async () => {
      respond = keeping([], ({ method }, list) => {
        if (method === 'PATCH') list.push('10.0.0.1');
      });
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.7/32')]))).toEqual(['done']);
    });

    it('that writes at the same time makes the gateway refuse, and nothing is forced', async () => {
      respond = ({ method }, response) =>
        method === 'PATCH'
          ? json(response, 503, { error_msg: 'value changed before overwritten' })
          : json(response, 200, listed('0.0.0.0/32', '203.0.113.8/32'));
      const changes = [add('203.0.113.7/32'), remove('203.0.113.8/32'), remove('203.0.113.9/32')];
      const claimed = target(['203.0.113.8/32', '203.0.113.9/32']);
      expect(kinds(await driver.applyChanges(claimed, changes))).toEqual(['conflict', 'conflict', 'done']);
      expect(written()).toHaveLength(1);
    });

    it('that takes the plugin off after the write is seen', async () => {
      let isOff = false;
      respond = ({ method }, response) => {
        json(response, 200, isOff ? route({}) : listed('0.0.0.0/32', '203.0.113.7/32'));
        if (method === 'PATCH') isOff = true;
      };
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.9/32')]))).toEqual(['conflict']);
    });
  });

  it('sends nothing when its time is over', async () => {
    respond = ({ method }, response) => {
      // the process stands still, as a stopped one does
      if (method === 'GET') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
      json(response, 200, listed('0.0.0.0/32'));
    };
    const asked = await driver
      .applyChanges(target(), [add('203.0.113.7/32')])
      .catch((error: unknown) => error);
    expect(asked instanceof DriverError ? asked.kind : kinds(asked as ChangeResult[]).join()).toBe(
      'transient',
    );
    expect(written()).toEqual([]);
  });

  it('does not know what became of a write that it cannot read back', async () => {
    let reads = 0;
    respond = ({ method }, response) => {
      if (method === 'GET') reads += 1;
      if (reads > 1) json(response, 401, { error_msg: 'failed to check token' });
      else json(response, 200, listed('0.0.0.0/32', '203.0.113.7/32'));
    };
    expect(kinds(await driver.applyChanges(target(), [add('203.0.113.9/32')]))).toEqual(['unknown']);
  });

  it('takes out what it may when the gateway refuses what comes in', async () => {
    const kept = keeping(['0.0.0.0/32', '203.0.113.8/32']);
    respond = (call, response) =>
      call.method === 'PATCH' && call.body.includes('203.0.113.7')
        ? json(response, 400, { error_msg: 'failed to check the configuration of plugin' })
        : kept(call, response);
    const changes = [add('203.0.113.7/32'), remove('203.0.113.8/32')];
    expect(kinds(await driver.applyChanges(target(['203.0.113.8/32']), changes))).toEqual([
      'invalid',
      'done',
    ]);
    expect(written().at(-1)).toEqual(['0.0.0.0/32']);
  });

  describe('an answer that is none', () => {
    const odd: [string, Respond][] = [
      ['an HTML page', (_, response) => response.end('<html></html>')],
      ['truncated JSON', (_, response) => response.end('{"key":"/apisix/routes/r1","value":{"plugi')],
      ['an error in a success', (_, response) => json(response, 200, { error_msg: 'failed' })],
      ['another object', (_, response) => json(response, 200, route({}, '/apisix/routes/r2'))],
      ['an object without a value', (_, response) => json(response, 200, { key: '/apisix/routes/r1' })],
      ['null', (_, response) => json(response, 200, null)],
      ['a list', (_, response) => json(response, 200, [])],
      ['plugins that are none', (_, response) => json(response, 200, route('all'))],
      ['a plugin that is none', (_, response) => json(response, 200, route({ 'ip-restriction': 7 }))],
      ['a plugin without a list', (_, response) => json(response, 200, route({ 'ip-restriction': {} }))],
      ['a list of numbers', (_, response) => json(response, 200, listed(1, 2))],
      [
        'a list that is none',
        (_, response) => json(response, 200, route({ 'ip-restriction': { whitelist: 'x' } })),
      ],
      ['ten megabytes', (_, response) => response.end('x'.repeat(10_000_000))],
      ['a redirect', (_, response) => response.writeHead(302, { location: `${adminUrl}/elsewhere` }).end()],
      ['a cut connection', (_, response) => response.destroy()],
      ['no answer', () => undefined],
    ];

    it.each(odd)('%s is passing, and nothing is assumed', async (_, answer) => {
      respond = answer;
      const { kind, message } = await thrown(driver.readRules(target()));
      expect(kind).toBe('transient');
      expect(message).toMatch(/^No answer of an APISIX Admin API came/);
      expect((await thrown(driver.verify(target()))).kind).toBe('transient');
      expect((await thrown(driver.applyChanges(target(), [add('203.0.113.7/32')]))).kind).toBe('transient');
      expect(written()).toEqual([]);
      expect(new Set(calls.map(({ url }) => url))).toEqual(new Set(['/apisix/admin/routes/r1']));
    });

    it.each(odd)('%s to a write leaves it unknown', async (_, answer) => {
      respond = (call, response) =>
        call.method === 'PATCH' ? answer(call, response) : json(response, 200, listed('0.0.0.0/32'));
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.7/32')]))).toEqual(['unknown']);
      expect(written()).toHaveLength(1);
    });
  });

  describe('verify', () => {
    const permission =
      (status: number, body: unknown): Respond =>
      (call, response) =>
        call.method === 'PATCH' ? json(response, status, body) : json(response, 200, listed('0.0.0.0/32'));

    it('asks for the permission to write without writing', async () => {
      respond = permission(404, { message: 'Key not found' });
      await driver.verify(target());
      expect(calls.map(({ method, url }) => `${method} ${url.replace(/[0-9a-f-]{36}$/, '…')}`)).toEqual([
        'GET /apisix/admin/routes/r1',
        'PATCH /apisix/admin/routes/drawbridge-…',
      ]);
    });

    it('finds a key that may only read', async () => {
      respond = permission(401, {
        error_msg: 'failed to check token',
        description: 'invalid method for role viewer',
      });
      expect(await thrown(driver.verify(target()))).toMatchObject({
        kind: 'denied',
        message: expect.stringContaining('may read only') as string,
      });
    });

    it('does not decide when it gets no proper answer', async () => {
      respond = permission(502, 'bad gateway');
      expect((await thrown(driver.verify(target()))).kind).toBe('transient');
    });

    it.each([
      ['without the plugin', {}, 'has no plugin ip-restriction'],
      ['without any plugin, in the way of Lua', [], 'has no plugin ip-restriction'],
      ['with a blacklist', { 'ip-restriction': { blacklist: ['10.0.0.1'] } }, 'has a blacklist'],
      [
        'whose plugin is off',
        { 'ip-restriction': { whitelist: ['10.0.0.1'], _meta: { disable: true } } },
        'is disabled',
      ],
    ])('refuses an object %s', async (_, plugins, words) => {
      respond = (_call, response) => json(response, 200, route(plugins));
      expect(await thrown(driver.verify(target()))).toMatchObject({
        kind: 'invalid',
        message: expect.stringContaining(words) as string,
      });
    });
  });

  describe('what leads elsewhere', () => {
    const leading = (url: string): CloudTarget =>
      target([], {
        credential: {
          credentialType: 'ADMIN_KEY',
          data: { adminUrl: url, adminKey: ADMIN_KEY },
          externalId: null,
        },
      });

    it.each(['http://169.254.169.254', 'http://[fe80::1]:80', 'http://10.0.0.1:9180', 'http://0.0.0.0:9180'])(
      '%s is not asked',
      async (url) => {
        for (const asked of [
          driver.verify(leading(url)),
          driver.readRules(leading(url)),
          driver.checkCredential(leading(url).credential),
          driver.applyChanges(leading(url), [add('203.0.113.7/32')]),
        ]) {
          expect(await thrown(asked)).toMatchObject({
            kind: 'invalid',
            message: 'adminUrl leads to an address that this deployment lets no credential lead to',
          });
        }
      },
    );

    it('this machine is not asked where the deployment names no network', async () => {
      const strict = createApisixDriver({});
      expect((await thrown(strict.readRules(target()))).kind).toBe('invalid');
      expect(calls).toEqual([]);
    });

    it('a name that leads nowhere is passing, and says no more than a closed port does', async () => {
      const nowhere = createApisixDriver({}, { callTimeoutMs: 200, dnsServers: ['127.0.0.1:9'] });
      const unresolved = await thrown(nowhere.readRules(leading('http://gateway.example.com')));
      const closed = await thrown(driver.readRules(leading('http://127.0.0.1:9')));
      expect(unresolved).toMatchObject({ kind: 'transient', message: closed.message });
    });

    it.each(['..', 'a/b', '', 'a?b'])('the id %j becomes no path', async (identifier) => {
      expect((await thrown(driver.readRules(target([], { identifier })))).kind).toBe('invalid');
      expect(calls).toEqual([]);
    });

    it('a type that is none becomes no path', async () => {
      expect((await thrown(driver.readRules(target([], { resourceType: 'CONSUMER' })))).kind).toBe('invalid');
    });
  });

  it('shows neither key nor answer', async () => {
    respond = (_, response) => json(response, 400, { error_msg: `canary ${ADMIN_KEY}` });
    for (const asked of [driver.verify(target()), driver.checkCredential(target().credential)]) {
      const { message } = await thrown(asked);
      expect(message).not.toMatch(/canary|a-key/);
    }
  });
});
