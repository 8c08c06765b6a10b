import type { CloudTarget, CloudDriver } from '../provider-driver';
import { createApisixDriver } from './apisix.driver';
import { duringTests, kinds, thrown, type Respond } from '../scripted-server.testing';
import {
  ADMIN_KEY,
  json,
  route,
  listed,
  add,
  remove,
  ScriptedGateway,
  routeTarget,
} from './apisix.driver.testing';

describe('APISIX driver: responses, permissions and destinations', () => {
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
      [
        'a redirect',
        (_, response) => response.writeHead(302, { location: `${gateway.url}/elsewhere` }).end(),
      ],
      ['a broken connection', (_, response) => response.destroy()],
      ['no response', () => undefined],
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
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.7/32')]))).toEqual(['unknown']);
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
      ['for every IPv4 address', ['0.0.0.0/32', '0.0.0.0/0'], 'lets everybody (0.0.0.0/0) in'],
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
      [
        'whose plugin is disabled',
        { 'ip-restriction': { whitelist: ['10.0.0.1'], _meta: { disable: true } } },
        'is disabled',
      ],
    ])('refuses an object %s', async (_, plugins, words) => {
      gateway.respond = (_call, response) => json(response, 200, route(plugins));
      expect(await thrown(driver.verify(target(), {}))).toMatchObject({
        kind: 'invalid',
        message: expect.stringContaining(words) as string,
      });
    });
  });

  describe('a list that the gateway does not ask for every request', () => {
    const ADDRESS = '203.0.113.7/32';
    const asked = { whitelist: ['0.0.0.0/32', ADDRESS] };
    const holding =
      (collection: string, plugin: object): Respond =>
      (call, response) =>
        call.url.includes('/drawbridge-')
          ? json(response, 404, { message: 'Key not found' })
          : json(response, 200, route({ 'ip-restriction': plugin }, `/apisix/${collection}/r1`));
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
        gateway.respond = holding(collection, { ...asked, ...condition });
        await expectNotAsked(resourceType, words);
        expect((await driver.readRules(target([], { resourceType }))).rules.map(({ key }) => key)).toEqual(
          expect.arrayContaining(['0.0.0.0/0 all *', '::/0 all *']),
        );
      }
      gateway.respond = holding(collection, { ...asked, _meta: { filter: [], priority: 1 } });
      await driver.verify(target([], { resourceType }), {});
    });

    it('guards nothing when the gateway has not loaded the plugin', async () => {
      gateway.plugins = ['real-ip'];
      gateway.respond = holding('routes', asked);
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
        { routes: [{ id: 7, service_id: 'r1', plugin_config_id: 2 }], plugin_configs: [{ id: 2, ...list }] },
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
      gateway.respond = holding(collection, asked);
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
      expect(kinds(await driver.applyChanges(target([ADDRESS]), [remove(ADDRESS)]))).toEqual(['done']);
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
});
