import type { CloudTarget, CloudDriver } from '../provider-driver';
import { duringTests, thrown, type Respond } from '../scripted-server.testing';
import { createApisixDriver } from './apisix.driver';
import { json, route, routeTarget, ScriptedGateway } from './apisix.driver.testing';

describe('A list that is asked for an address which the client names', () => {
  const gateway = duringTests(new ScriptedGateway());
  let driver: CloudDriver;

  beforeAll(() => {
    driver = createApisixDriver({ TENANT_URL_NETWORKS: '127.0.0.0/8' }, { callTimeoutMs: 500 });
  });
  beforeEach(() => {
    gateway.plugins = ['ip-restriction'];
    gateway.others = {};
  });

  const ADDRESS = '203.0.113.7/32';
  const asked = { whitelist: ['0.0.0.0/32', ADDRESS] };
  const target = (claimed: readonly string[] = [], changed?: Partial<CloudTarget>): CloudTarget =>
    routeTarget(gateway.url, claimed, changed);
  const holding =
    (collection: string, plugins: object = {}): Respond =>
    (call, response) =>
      call.url.includes('/drawbridge-')
        ? json(response, 404, { message: 'Key not found' })
        : json(response, 200, route({ 'ip-restriction': asked, ...plugins }, `/apisix/${collection}/r1`));
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
