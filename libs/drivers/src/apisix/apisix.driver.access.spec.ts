import type { CloudTarget, ProviderDriver } from '../provider-driver';
import { createApisixDriver } from './apisix.driver';
import {
  ADMIN_KEY,
  type Respond,
  json,
  route,
  listed,
  add,
  kinds,
  thrown,
  ScriptedGateway,
  routeTarget,
} from './apisix.driver.testing';

describe('APISIX driver: responses, permissions and destinations', () => {
  const gateway = new ScriptedGateway();
  let driver: ProviderDriver;

  beforeAll(async () => {
    await gateway.open();
    driver = createApisixDriver({ TENANT_URL_NETWORKS: '127.0.0.0/8' }, { callTimeoutMs: 500 });
  });
  beforeEach(() => {
    gateway.calls = [];
  });
  afterAll(() => gateway.close());

  const target = (claimed?: readonly string[], changed?: Partial<CloudTarget>): CloudTarget =>
    routeTarget(gateway.url, claimed, changed);

  describe('an unexpected response', () => {
    const malformed: [string, Respond][] = [
      ['an HTML page', (_, response) => response.end('<html></html>')],
      ['truncated JSON', (_, response) => response.end('{"key":"/apisix/routes/r1","value":{"plugi')],
      ['an error with HTTP 200', (_, response) => json(response, 200, { error_msg: 'failed' })],
      ['another object', (_, response) => json(response, 200, route({}, '/apisix/routes/r2'))],
      ['an object without a value', (_, response) => json(response, 200, { key: '/apisix/routes/r1' })],
      ['null', (_, response) => json(response, 200, null)],
      ['an array', (_, response) => json(response, 200, [])],
      ['malformed plugins', (_, response) => json(response, 200, route('all'))],
      ['a malformed plugin', (_, response) => json(response, 200, route({ 'ip-restriction': 7 }))],
      ['a plugin without a list', (_, response) => json(response, 200, route({ 'ip-restriction': {} }))],
      ['a list of numbers', (_, response) => json(response, 200, listed(1, 2))],
      [
        'a malformed list',
        (_, response) => json(response, 200, route({ 'ip-restriction': { whitelist: 'x' } })),
      ],
      ['an oversized response', (_, response) => response.end('x'.repeat(10_000_000))],
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
    gateway.respond = (_, response) => json(response, 400, { error_msg: `canary ${ADMIN_KEY}` });
    for (const call of [driver.verify(target(), {}), driver.checkCredential(target().credential)]) {
      const { message } = await thrown(call);
      expect(message).not.toMatch(/canary|a-key/);
    }
  });
});
