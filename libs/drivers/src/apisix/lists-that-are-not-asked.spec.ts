import { thrown } from '../scripted-server.testing';
import { ADDRESS, apisixDuringTests, asked, holding, json, remove, route } from './apisix.driver.testing';

describe('APISIX driver', () => {
  const { gateway, driver, target, apply } = apisixDuringTests();

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
