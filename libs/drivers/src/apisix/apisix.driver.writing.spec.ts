import type { ChangeResult } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget, CloudDriver } from '../provider-driver';
import { createApisixDriver } from './apisix.driver';
import { duringTests, kinds } from '../scripted-server.testing';
import {
  ADMIN_KEY,
  LIST_PATH,
  json,
  route,
  listed,
  add,
  remove,
  ScriptedGateway,
  storing,
  routeTarget,
} from './apisix.driver.testing';

describe('APISIX driver: reading and writing rules', () => {
  const gateway = duringTests(new ScriptedGateway());
  let driver: CloudDriver;

  beforeAll(() => {
    driver = createApisixDriver({ TENANT_URL_NETWORKS: '127.0.0.0/8' }, { callTimeoutMs: 500 });
  });

  const target = (claimed?: readonly string[], changed?: Partial<CloudTarget>): CloudTarget =>
    routeTarget(gateway.url, claimed, changed);

  it('reads the object, writes only its whitelist and reads it back, with the key in the header', async () => {
    gateway.respond = storing(['10.0.0.0/8']);
    expect(kinds(await driver.applyChanges(target(), [add('203.0.113.7/32')]))).toEqual(['done']);
    expect(gateway.calls.map(({ method, url, headers }) => [method, url, headers['x-api-key']])).toEqual([
      ['GET', '/apisix/admin/routes/r1', ADMIN_KEY],
      ['PATCH', LIST_PATH, ADMIN_KEY],
      ['GET', '/apisix/admin/routes/r1', ADMIN_KEY],
    ]);
    expect(gateway.written).toEqual([['0.0.0.0/32', '10.0.0.0/8', '203.0.113.7/32']]);
  });

  it('leaves the sentinel when the last address is removed', async () => {
    gateway.respond = storing(['0.0.0.0/32', '203.0.113.7/32']);
    expect(kinds(await driver.applyChanges(target(['203.0.113.7/32']), [remove('203.0.113.7/32')]))).toEqual([
      'done',
    ]);
    expect(gateway.written).toEqual([['0.0.0.0/32']]);
  });

  it.each([
    ['ROUTE', 'routes'],
    ['SERVICE', 'services'],
    ['CONSUMER_GROUP', 'consumer_groups'],
    ['PLUGIN_CONFIG', 'plugin_configs'],
    ['GLOBAL_RULE', 'global_rules'],
  ])('reads a %s from the collection %s', async (resourceType, collection) => {
    gateway.respond = (_, response) =>
      json(
        response,
        200,
        route({ 'ip-restriction': { whitelist: ['10.0.0.1'] } }, `/apisix/${collection}/r1`),
      );
    expect((await driver.readRules(target([], { resourceType }))).rules).toEqual([
      { key: '10.0.0.1/32 all *', providerRuleId: `${collection}/r1#10.0.0.1`, ownRuleId: null },
    ]);
    expect(gateway.calls[0]?.url).toBe(`/apisix/admin/${collection}/r1`);
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
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.7/32')]))).toEqual(['conflict']);
    });

    it('that adds its own entry right after the write does not cause a conflict', async () => {
      gateway.respond = storing([], ({ method }, list) => {
        if (method === 'PATCH') list.push('10.0.0.1');
      });
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.7/32')]))).toEqual(['done']);
    });

    it('that makes the gateway refuse the write causes a conflict without a retry', async () => {
      gateway.respond = ({ method }, response) =>
        method === 'PATCH'
          ? json(response, 503, { error_msg: 'value changed before overwritten' })
          : json(response, 200, listed('0.0.0.0/32', '203.0.113.8/32'));
      const changes = [add('203.0.113.7/32'), remove('203.0.113.8/32'), remove('203.0.113.9/32')];
      const claimed = target(['203.0.113.8/32', '203.0.113.9/32']);
      expect(kinds(await driver.applyChanges(claimed, changes))).toEqual(['conflict', 'conflict', 'done']);
      expect(gateway.written).toHaveLength(1);
    });

    it('that removes the plugin after the write causes a conflict', async () => {
      let isOff = false;
      gateway.respond = ({ method }, response) => {
        json(response, 200, isOff ? route({}) : listed('0.0.0.0/32', '203.0.113.7/32'));
        if (method === 'PATCH') isOff = true;
      };
      expect(kinds(await driver.applyChanges(target(), [add('203.0.113.9/32')]))).toEqual(['conflict']);
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
    expect(kinds(await driver.applyChanges(target(), [add('203.0.113.9/32')]))).toEqual(['unknown']);
  });

  it('applies the removals when the gateway refuses the additions', async () => {
    const kept = storing(['0.0.0.0/32', '203.0.113.8/32']);
    gateway.respond = (call, response) =>
      call.method === 'PATCH' && call.body.includes('203.0.113.7')
        ? json(response, 400, { error_msg: 'failed to check the configuration of plugin' })
        : kept(call, response);
    const changes = [add('203.0.113.7/32'), remove('203.0.113.8/32')];
    expect(kinds(await driver.applyChanges(target(['203.0.113.8/32']), changes))).toEqual([
      'invalid',
      'done',
    ]);
    expect(gateway.written.at(-1)).toEqual(['0.0.0.0/32']);
  });
});
