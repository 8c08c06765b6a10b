import type { ServerResponse } from 'node:http';
import { type ChangeResult, ruleKey } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudDriver, CloudTarget, RuleChange } from '../provider-driver';
import {
  duringTests,
  kinds,
  type Respond,
  type ScriptedCall,
  ScriptedServer,
  thrown,
} from '../scripted-server.testing';
import { createApisixDriver } from './apisix.driver';

const ADMIN_KEY = 'a-key-of-the-tenant';
const LIST_PATH = '/apisix/admin/routes/r1/plugins/ip-restriction/whitelist';

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
/** A gateway whose Admin API responds as scripted. */
class ScriptedGateway extends ScriptedServer {
  /** the loaded plugins, responded outside the script and not recorded; null: the script responds */
  plugins: string[] | null = ['ip-restriction'];
  /** the values of other objects by collection, responded like the plugins */
  others: Readonly<Record<string, readonly object[]>> = {};

  constructor() {
    super((_, response) => json(response, 500, {}));
  }

  /** The lists that were written. */
  get written(): unknown[] {
    return this.calls
      .filter(({ method }) => method === 'PATCH')
      .map(({ body }) => JSON.parse(body) as unknown);
  }

  protected override receive(call: ScriptedCall, response: ServerResponse): void {
    if (this.plugins && call.path.endsWith('/plugins/list')) return json(response, 200, this.plugins);
    if (!call.query.has('page')) return super.receive(call, response);
    const collection = call.path.split('/').at(-1)!;
    const list = (this.others[collection] ?? []).map((value) => ({ key: '/apisix/other', value }));
    return json(response, 200, { list, total: list.length });
  }
}

/** A gateway that stores its list. @param after called after each call with the list, which it may change */
const storing = (
  whitelist: string[],
  after: (call: ScriptedCall, list: string[]) => void = () => undefined,
): Respond => {
  const list = [...whitelist];
  return (call, response) => {
    if (call.method === 'PATCH') list.splice(0, list.length, ...(JSON.parse(call.body) as string[]));
    json(response, 200, listed(...list));
    after(call, list);
  };
};

/** @param claimed addresses of rules that the database claims */
const routeTarget = (
  adminUrl: string,
  claimed: readonly string[] = [],
  changed: Partial<CloudTarget> = {},
): CloudTarget => ({
  resourceType: 'ROUTE',
  identifier: 'r1',
  region: null,
  credential: {
    credentialType: 'ADMIN_KEY',
    data: { adminUrl, adminKey: ADMIN_KEY },
    externalId: null,
    identity: null,
  },
  deployment: 'd',
  claims: new Map(
    claimed.map((address) => [ruleKey({ address, protocol: 'all', ports: [] }), `rule of ${address}`]),
  ),
  ...changed,
});

describe('APISIX driver', () => {
  const gateway = duringTests(new ScriptedGateway());
  let driver: CloudDriver;

  beforeAll(() => {
    driver = createApisixDriver({ TENANT_URL_NETWORKS: '127.0.0.0/8' }, { callTimeoutMs: 500 });
  });
  beforeEach(() => {
    gateway.plugins = ['ip-restriction'];
    gateway.others = {};
  });

  const target = (claimed?: readonly string[], changed?: Partial<CloudTarget>): CloudTarget =>
    routeTarget(gateway.url, claimed, changed);
  const apply = async (changes: readonly RuleChange[], claimed?: readonly string[]): Promise<string[]> =>
    kinds(await driver.applyChanges(target(claimed), changes));

  it('reads the object, writes only its whitelist and reads it back, with the key in the header', async () => {
    gateway.respond = storing(['10.0.0.0/8']);
    expect(await apply([add('203.0.113.7/32')])).toEqual(['done']);
    expect(gateway.calls.map(({ method, url, headers }) => [method, url, headers['x-api-key']])).toEqual([
      ['GET', '/apisix/admin/routes/r1', ADMIN_KEY],
      ['PATCH', LIST_PATH, ADMIN_KEY],
      ['GET', '/apisix/admin/routes/r1', ADMIN_KEY],
    ]);
    expect(gateway.written).toEqual([['0.0.0.0/32', '10.0.0.0/8', '203.0.113.7/32']]);
  });

  it('reads the format of older Admin API versions', async () => {
    gateway.respond = (_, response) => json(response, 200, { action: 'get', node: listed('10.0.0.1') });
    expect((await driver.readRules(target())).rules).toHaveLength(1);
  });

  describe('a concurrent writer', () => {
    it('that removes our entry right after the write causes a conflict', async () => {
      gateway.respond = storing([], ({ method }, list) => {
        if (method === 'PATCH') list.pop();
      });
      expect(await apply([add('203.0.113.7/32')])).toEqual(['conflict']);
    });

    it('that adds its own entry right after the write does not cause a conflict', async () => {
      gateway.respond = storing([], ({ method }, list) => {
        if (method === 'PATCH') list.push('10.0.0.1');
      });
      expect(await apply([add('203.0.113.7/32')])).toEqual(['done']);
    });

    it('that makes the gateway refuse the write causes a conflict without a retry', async () => {
      gateway.respond = ({ method }, response) =>
        method === 'PATCH'
          ? json(response, 503, { error_msg: 'value changed before overwritten' })
          : json(response, 200, listed('0.0.0.0/32', '203.0.113.8/32'));
      const changes = [add('203.0.113.7/32'), remove('203.0.113.8/32'), remove('203.0.113.9/32')];
      const claimed = ['203.0.113.8/32', '203.0.113.9/32'];
      expect(await apply(changes, claimed)).toEqual(['conflict', 'conflict', 'done']);
      expect(gateway.written).toHaveLength(1);
    });

    it('that removes the plugin after the write causes a conflict', async () => {
      let isOff = false;
      gateway.respond = ({ method }, response) => {
        json(response, 200, isOff ? route({}) : listed('0.0.0.0/32', '203.0.113.7/32'));
        if (method === 'PATCH') isOff = true;
      };
      expect(await apply([add('203.0.113.9/32')])).toEqual(['conflict']);
    });
  });

  it('sends no write after the deadline', async () => {
    gateway.respond = ({ method }, response) => {
      // blocks the process as if it was suspended
      if (method === 'GET') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
      json(response, 200, listed('0.0.0.0/32'));
    };
    const asked = await driver
      .applyChanges(target(), [add('203.0.113.7/32')])
      .catch((error: unknown) => error);
    expect(asked instanceof DriverError ? asked.kind : kinds(asked as ChangeResult[]).join()).toBe(
      'transient',
    );
    expect(gateway.written).toEqual([]);
  });

  it('reports unknown when the list cannot be read back', async () => {
    let reads = 0;
    gateway.respond = ({ method }, response) => {
      if (method === 'GET') reads += 1;
      if (reads > 1) json(response, 401, { error_msg: 'failed to check token' });
      else json(response, 200, listed('0.0.0.0/32', '203.0.113.7/32'));
    };
    expect(await apply([add('203.0.113.9/32')])).toEqual(['unknown']);
  });

  it('applies the removals when the gateway refuses the additions', async () => {
    const kept = storing(['0.0.0.0/32', '203.0.113.8/32']);
    gateway.respond = (call, response) =>
      call.method === 'PATCH' && call.body.includes('203.0.113.7')
        ? json(response, 400, { error_msg: 'failed to check the configuration of plugin' })
        : kept(call, response);
    const changes = [add('203.0.113.7/32'), remove('203.0.113.8/32')];
    expect(await apply(changes, ['203.0.113.8/32'])).toEqual(['invalid', 'done']);
    expect(gateway.written.at(-1)).toEqual(['0.0.0.0/32']);
  });

  describe('an unexpected response', () => {
    const malformed: [string, Respond][] = [
      ['another object', (_, response) => json(response, 200, route({}, '/apisix/routes/r2'))],
      ['an object without a value', (_, response) => json(response, 200, { key: '/apisix/routes/r1' })],
      ['malformed plugins', (_, response) => json(response, 200, route('all'))],
      ['a malformed plugin', (_, response) => json(response, 200, route({ 'ip-restriction': 7 }))],
      ['a plugin without a list', (_, response) => json(response, 200, route({ 'ip-restriction': {} }))],
      ['a list of numbers', (_, response) => json(response, 200, listed(1, 2))],
      [
        'a malformed list',
        (_, response) => json(response, 200, route({ 'ip-restriction': { whitelist: 'x' } })),
      ],
    ];

    it.each(malformed)('to a read is a transient failure: %s', async (_, reply) => {
      gateway.respond = reply;
      const { kind, message } = await thrown(driver.readRules(target()));
      expect(kind).toBe('transient');
      expect(message).toMatch(/^No answer of an APISIX Admin API came/);
      expect((await thrown(driver.verify(target(), {}))).kind).toBe('transient');
      expect((await thrown(driver.applyChanges(target(), [add('203.0.113.7/32')]))).kind).toBe('transient');
      expect(gateway.written).toEqual([]);
      expect(new Set(gateway.calls.map(({ url }) => url))).toEqual(new Set(['/apisix/admin/routes/r1']));
    });

    it.each(malformed)('to a write has an unknown outcome: %s', async (_, reply) => {
      gateway.respond = (call, response) =>
        call.method === 'PATCH' ? reply(call, response) : json(response, 200, listed('0.0.0.0/32'));
      expect(await apply([add('203.0.113.7/32')])).toEqual(['unknown']);
      expect(gateway.written).toHaveLength(1);
    });
  });

  describe('verify', () => {
    const permission =
      (status: number, body: unknown): Respond =>
      (call, response) =>
        call.method === 'PATCH' ? json(response, status, body) : json(response, 200, listed('0.0.0.0/32'));

    it('checks the write permission without writing', async () => {
      gateway.respond = permission(404, { message: 'Key not found' });
      await driver.verify(target(), {});
      expect(
        gateway.calls.map(({ method, url }) => `${method} ${url.replace(/[0-9a-f-]{36}$/, '…')}`),
      ).toEqual(['GET /apisix/admin/routes/r1', 'PATCH /apisix/admin/routes/drawbridge-…']);
    });

    it.each([
      ['empty', [], 'is empty, so the gateway lets everybody in'],
      ['with an entry that is no address', ['0.0.0.0/32', 'office.example'], 'contains "office.example"'],
    ])('refuses a whitelist that is %s', async (_, entries, words) => {
      gateway.respond = (call, response) =>
        call.method === 'PATCH'
          ? json(response, 404, { message: 'Key not found' })
          : json(response, 200, listed(...entries));
      expect(await thrown(driver.verify(target(), {}))).toMatchObject({
        kind: 'invalid',
        message: expect.stringContaining(words) as string,
      });
    });

    it('detects a read-only key', async () => {
      gateway.respond = permission(401, {
        error_msg: 'failed to check token',
        description: 'invalid method for role viewer',
      });
      expect(await thrown(driver.verify(target(), {}))).toMatchObject({
        kind: 'denied',
        message: expect.stringContaining('may read only') as string,
      });
    });

    it('reports a transient failure for an unexpected response', async () => {
      gateway.respond = permission(502, 'bad gateway');
      expect((await thrown(driver.verify(target(), {}))).kind).toBe('transient');
    });

    it.each([
      ['without the plugin', {}, 'has no plugin ip-restriction'],
      ['with plugins as an empty Lua array', [], 'has no plugin ip-restriction'],
      ['with a blacklist', { 'ip-restriction': { blacklist: ['10.0.0.1'] } }, 'has a blacklist'],
    ])('refuses an object %s', async (_, plugins, words) => {
      gateway.respond = (_call, response) => json(response, 200, route(plugins));
      expect(await thrown(driver.verify(target(), {}))).toMatchObject({
        kind: 'invalid',
        message: expect.stringContaining(words) as string,
      });
    });
  });

  const ADDRESS = '203.0.113.7/32';
  const asked = { whitelist: ['0.0.0.0/32', ADDRESS] };
  /** An object with the list, unless plugins are given in place of it or beside it; the key may write. */
  const holding =
    (collection: string, plugins: object = {}): Respond =>
    (call, response) =>
      call.url.includes('/drawbridge-')
        ? json(response, 404, { message: 'Key not found' })
        : json(response, 200, route({ 'ip-restriction': asked, ...plugins }, `/apisix/${collection}/r1`));

  describe('a list that the gateway does not ask for every request', () => {
    const expectNotAsked = async (resourceType: string, words: string): Promise<void> => {
      const of = target([ADDRESS], { resourceType });
      const message = expect.stringContaining(words) as string;
      expect(await thrown(driver.verify(of, {}))).toMatchObject({ kind: 'invalid', message });
      const observed = (await driver.readRules(of)).rules;
      expect(observed.find(({ ownRuleId }) => ownRuleId !== null)).toMatchObject({ noEffect: message });
    };

    it.each([
      ['ROUTE', 'routes'],
      ['SERVICE', 'services'],
      ['CONSUMER_GROUP', 'consumer_groups'],
      ['PLUGIN_CONFIG', 'plugin_configs'],
      ['GLOBAL_RULE', 'global_rules'],
    ])('guards no %s, whatever the spelling of the condition', async (resourceType, collection) => {
      for (const [condition, words] of [
        [{ _meta: { filter: [['arg_debug', '!=', '1']] } }, 'condition'],
        [{ _meta: { pre_function: 'return function() end' } }, 'condition'],
        [{ _meta: { disable: true } }, 'is disabled'],
        [{ disable: true }, 'is disabled'],
      ] as const) {
        gateway.respond = holding(collection, { 'ip-restriction': { ...asked, ...condition } });
        await expectNotAsked(resourceType, words);
        expect((await driver.readRules(target([], { resourceType }))).rules.map(({ key }) => key)).toEqual(
          expect.arrayContaining(['0.0.0.0/0 all *', '::/0 all *']),
        );
      }
      gateway.respond = holding(collection, {
        'ip-restriction': { ...asked, _meta: { filter: [], priority: 1 } },
      });
      await driver.verify(target([], { resourceType }), {});
    });

    it('guards nothing when the gateway has not loaded the plugin', async () => {
      gateway.plugins = ['real-ip'];
      gateway.respond = holding('routes');
      await expectNotAsked('ROUTE', 'has not loaded the plugin');
    });

    const list = { plugins: { 'ip-restriction': asked } };
    it.each([
      ['SERVICE', 'services', 'a route has a list', { routes: [{ id: 7, service_id: 'r1', ...list }] }],
      ['SERVICE', 'services', 'a route has a script', { routes: [{ id: 7, service_id: 'r1', script: 'x' }] }],
      [
        'SERVICE',
        'services',
        'the plugin config of a route has a list',
        {
          routes: [{ id: 7, service_id: 'r1', plugin_config_id: 2 }],
          plugin_configs: [{ id: 2, ...list }],
        },
      ],
      [
        'PLUGIN_CONFIG',
        'plugin_configs',
        'a route has a list',
        { routes: [{ id: 7, plugin_config_id: 'r1', ...list }] },
      ],
      [
        'GLOBAL_RULE',
        'global_rules',
        'another global rule has a list',
        {
          global_rules: [
            { id: 'r1', ...list },
            { id: 7, ...list },
          ],
        },
      ],
    ])('guards no %s (%s) where %s', async (resourceType, collection, _, others) => {
      gateway.others = others;
      gateway.respond = holding(collection);
      await expectNotAsked(resourceType, ' 7 has an ip-restriction');
      gateway.others = Object.fromEntries(
        Object.keys(others).map((name) => [
          name,
          [
            { id: 'r1', ...list },
            { id: 8, service_id: 'r2', plugin_config_id: 'r2' },
          ],
        ]),
      );
      await driver.verify(target([], { resourceType }), {});
    });

    it('can be changed: its addresses are removed', async () => {
      const conditional = { _meta: { filter: [['arg_debug', '!=', '1']] } };
      let whitelist: unknown = asked.whitelist;
      gateway.respond = (call, response) => {
        if (call.method === 'PATCH') whitelist = JSON.parse(call.body);
        json(response, 200, route({ 'ip-restriction': { whitelist, ...conditional } }));
      };
      expect(await apply([remove(ADDRESS)], [ADDRESS])).toEqual(['done']);
      expect(gateway.written).toEqual([['0.0.0.0/32']]);
    });
  });

  describe('forbidden destinations', () => {
    const leading = (url: string): CloudTarget =>
      target([], {
        credential: {
          credentialType: 'ADMIN_KEY',
          data: { adminUrl: url, adminKey: ADMIN_KEY },
          externalId: null,
          identity: null,
        },
      });

    it.each(['http://169.254.169.254', 'http://[fe80::1]:80', 'http://10.0.0.1:9180', 'http://0.0.0.0:9180'])(
      'include the URL %s',
      async (url) => {
        for (const call of [
          driver.verify(leading(url), {}),
          driver.readRules(leading(url)),
          driver.checkCredential(leading(url).credential),
          driver.applyChanges(leading(url), [add('203.0.113.7/32')]),
        ]) {
          expect(await thrown(call)).toMatchObject({
            kind: 'invalid',
            message: 'adminUrl leads to an address that this deployment lets no credential lead to',
          });
        }
      },
    );

    it('include loopback when no private network is configured', async () => {
      const strict = createApisixDriver({});
      expect((await thrown(strict.readRules(target()))).kind).toBe('invalid');
      expect(gateway.calls).toEqual([]);
    });

    it('include no unresolvable name: its message equals the one for a closed port', async () => {
      const nowhere = createApisixDriver({}, { callTimeoutMs: 200, dnsServers: ['127.0.0.1:9'] });
      const unresolved = await thrown(nowhere.readRules(leading('http://gateway.example.com')));
      const closed = await thrown(driver.readRules(leading('http://127.0.0.1:9')));
      expect(unresolved).toMatchObject({ kind: 'transient', message: closed.message });
    });

    it.each(['..', 'a/b', '', 'a?b'])(
      'include the id %j, which is not used in a path',
      async (identifier) => {
        expect((await thrown(driver.readRules(target([], { identifier })))).kind).toBe('invalid');
        expect(gateway.calls).toEqual([]);
      },
    );

    it('include unknown resource types', async () => {
      expect((await thrown(driver.readRules(target([], { resourceType: 'CONSUMER' })))).kind).toBe('invalid');
    });
  });

  it('exposes neither key nor response in messages', async () => {
    gateway.plugins = null;
    gateway.respond = (_, response) => json(response, 400, { error_msg: `canary ${ADMIN_KEY}` });
    for (const call of [driver.verify(target(), {}), driver.checkCredential(target().credential)]) {
      const { message } = await thrown(call);
      expect(message).not.toMatch(/canary|a-key/);
    }
  });

  describe('a list that is asked for an address which the client names', () => {
    const realIp = (plugin: object): object => ({ plugins: { 'real-ip': plugin } });
    const named = { source: 'arg_realip' };
    const proxied = { source: 'http_x_forwarded_for', trusted_addresses: ['10.0.0.0/8', '2001:db8::/32'] };

    it.each<[string, string, Record<string, object[]>]>([
      ['ROUTE', 'routes', { global_rules: [{ id: 1, ...realIp(named) }] }],
      ['SERVICE', 'services', { routes: [{ id: 7, service_id: 'r1', ...realIp(named) }] }],
      [
        'SERVICE',
        'services',
        {
          routes: [{ id: 7, service_id: 'r1', plugin_config_id: 2 }],
          plugin_configs: [{ id: 2, ...realIp(named) }],
        },
      ],
      [
        'PLUGIN_CONFIG',
        'plugin_configs',
        {
          routes: [{ id: 7, service_id: 's', plugin_config_id: 'r1' }],
          services: [{ id: 's', ...realIp(named) }],
        },
      ],
      ['CONSUMER_GROUP', 'consumer_groups', { routes: [{ id: 7, ...realIp(named) }] }],
      ['GLOBAL_RULE', 'global_rules', { services: [{ id: 7, ...realIp(named) }] }],
    ])(
      'guards no %s whose requests pass another object that lets clients name their address',
      async (resourceType, collection, others) => {
        gateway.others = others;
        gateway.respond = holding(collection);
        const of = target([ADDRESS], { resourceType });
        const message = expect.stringContaining('The plugin real-ip of') as string;
        expect(await thrown(driver.verify(of, {}))).toMatchObject({ kind: 'invalid', message });
        const { rules, explainOpen } = await driver.inspect(of);
        expect(rules.find(({ ownRuleId }) => ownRuleId !== null)).toMatchObject({ noEffect: message });
        expect(explainOpen({})).toContain('arg_realip');
        const safe = JSON.stringify(others).replaceAll(JSON.stringify(named), JSON.stringify(proxied));
        gateway.others = JSON.parse(safe) as Record<string, object[]>;
        await driver.verify(target([], { resourceType }), {});
      },
    );

    it.each<[object, boolean]>([
      [{ 'real-ip': named }, false],
      [{ 'real-ip': { source: 'http_x_forwarded_for' } }, false],
      [{ 'real-ip': { ...proxied, trusted_addresses: ['0.0.0.0/1', '128.0.0.0/1'] } }, false],
      [{ 'real-ip': { ...proxied, trusted_addresses: ['::/0'] } }, false],
      [{ 'real-ip': { ...proxied, trusted_addresses: ['proxies'] } }, false],
      [{ 'real-ip': { ...proxied, source: 'cookie_ip' } }, false],
      [{ 'real-ip': proxied }, true],
      [{ 'real-ip': { source: 'remote_addr' } }, true],
      [{ 'real-ip': { ...named, _meta: { disable: true } } }, true],
      [{ 'serverless-pre-function': { functions: ['return function() client.set_real_ip(x) end'] } }, false],
      [{ 'serverless-pre-function': { functions: ['return function() end'] } }, true],
    ])('judges by what else the object has: %j', async (plugins, isAsked) => {
      gateway.respond = holding('routes', plugins);
      const refusal = await driver.verify(target(), {}).then(
        () => null,
        (error: unknown) => error,
      );
      expect(refusal === null).toBe(isAsked);
      expect((await driver.inspect(target())).explainOpen({}) === null).toBe(isAsked);
    });
  });
});
