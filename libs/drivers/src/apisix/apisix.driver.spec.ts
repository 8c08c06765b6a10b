import { type ChangeResult } from '#rules';
import { DriverError } from '../driver-error';
import type { CloudTarget } from '../provider-driver';
import { kinds, type Respond, thrown } from '../scripted-server.testing';
import { createApisixDriver } from './apisix.driver';
import {
  add,
  ADMIN_KEY,
  apisixDuringTests,
  json,
  listed,
  remove,
  route,
  storing,
} from './apisix.driver.testing';

const LIST_PATH = '/apisix/admin/routes/r1/plugins/ip-restriction/whitelist';

describe('APISIX driver', () => {
  const { gateway, driver, target, apply } = apisixDuringTests();

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
