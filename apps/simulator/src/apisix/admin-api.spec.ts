import type { OpenRule } from '../ground-truth/ledger';
import { startSimulator, type RunningSimulator } from '../start-simulator';

const ROUTE = 'routes/simulated-route-1';
const LIST = `${ROUTE}/plugins/ip-restriction/whitelist`;
const PLUGIN = 'failed to check the configuration of plugin ip-restriction err: ';

interface Answer {
  readonly status: number;
  readonly body: {
    readonly key?: string;
    readonly value?: {
      readonly uri?: string;
      readonly plugins?: Readonly<Record<string, { readonly whitelist?: readonly string[] } | undefined>>;
    };
    readonly modifiedIndex?: number;
    readonly error_msg?: string;
    readonly list?: readonly unknown[];
  };
}

describe('Simulated Admin API', () => {
  let simulator: RunningSimulator;

  beforeAll(async () => {
    simulator = await startSimulator();
  });
  afterAll(() => simulator.close());
  beforeEach(async () => {
    await fetch(`${simulator.url}/_reset`, { method: 'POST' });
  });

  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(`${simulator.url}/apisix-gateway/apisix/admin/${path}`, {
      method,
      headers: { 'x-api-key': 'simulated-admin-key', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  const asDrawbridge = { 'user-agent': 'drawbridge' };
  const control = async (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${simulator.url}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  const open = async (target = 'simulated-route-1'): Promise<string[]> => {
    const response = await control('GET', `/_rules?provider=APISIX&target=${target}`);
    const rules = (await response.json()) as OpenRule[];
    return rules.map(({ address, ours }) => `${address} ${ours ? 'ours' : 'unmanaged'}`);
  };

  it('starts with objects that allow no address', async () => {
    const { status, body } = await ask('GET', ROUTE);
    expect(status).toBe(200);
    expect(body.key).toBe('/apisix/routes/simulated-route-1');
    expect(body.value?.plugins?.['ip-restriction']?.whitelist).toEqual(['0.0.0.0/32']);
    expect((await ask('GET', 'routes')).body.list).toHaveLength(5);
    expect(await (await control('GET', '/_rules?provider=APISIX')).json()).toEqual([]);
  });

  it.each([
    [{ 'x-api-key': '' }, 'missing apikey'],
    [{ 'x-api-key': 'another' }, 'wrong apikey'],
  ])('refuses a key: %j', async (headers, description) => {
    expect(await ask('GET', ROUTE, undefined, headers)).toEqual({
      status: 401,
      body: { error_msg: 'failed to check token', description },
    });
  });

  it('gives the viewer key read access only', async () => {
    const viewer = { 'x-api-key': 'simulated-viewer-key' };
    expect((await ask('GET', ROUTE, undefined, viewer)).status).toBe(200);
    expect(await ask('PATCH', LIST, ['10.0.0.1'], viewer)).toMatchObject({
      status: 401,
      body: { description: 'invalid method for role viewer' },
    });
  });

  it('replaces a list, and keeps the rest of the object', async () => {
    const before = (await ask('GET', ROUTE)).body;
    const { status, body } = await ask('PATCH', LIST, ['203.0.113.7/32', '2001:db8::/48'], asDrawbridge);
    expect(status).toBe(200);
    expect(body.value?.plugins?.['ip-restriction']?.whitelist).toEqual(['203.0.113.7/32', '2001:db8::/48']);
    const after = (await ask('GET', ROUTE)).body;
    expect(after.value?.uri).toBe(before.value?.uri);
    expect(after.modifiedIndex).toBeGreaterThan(before.modifiedIndex!);
    expect(await open()).toEqual(['203.0.113.7 ours', '2001:db8::/48 ours']);
    await ask('PATCH', LIST, ['203.0.113.7/32', '10.0.0.1']);
    expect(await open()).toEqual(['203.0.113.7 ours', '10.0.0.1 unmanaged']);
  });

  it.each([
    [LIST, [], `${PLUGIN}property "whitelist" validation failed: expect array to have at least 1 items`],
    [
      LIST,
      'null',
      `${PLUGIN}property "whitelist" validation failed: wrong type: expected array, got userdata`,
    ],
    [LIST, ['999.1.1.1'], `${PLUGIN}property "whitelist" validation failed: failed to validate item 1`],
    [LIST, ['10.0.0.1', '10.0.0.0/33'], 'failed to validate item 2'],
    [LIST, ['2001:db8::/x'], 'failed to validate item 1'],
    [ROUTE, { plugins: { 'ip-restriction': { whitelist: null } } }, 'matches none'],
    [ROUTE, { plugins: { 'ip-restriction': { blacklist: ['10.0.0.1'] } } }, 'matches both schemas 1 and 2'],
    [ROUTE, '', 'missing configurations'],
    [ROUTE, '{', 'invalid request body'],
    [`${ROUTE}/uri/x`, 1, 'invalid sub-path: /'],
  ])('refuses, like APISIX, %s %j', async (path, body, message) => {
    const answer = await ask('PATCH', path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error_msg).toContain(message);
    expect(await open()).toEqual([]);
  });

  it.each([
    ['without the plugin', { plugins: { 'ip-restriction': null } }],
    ['with the plugin disabled', { plugins: { 'ip-restriction': { _meta: { disable: true } } } }],
    ['with a blacklist', { plugins: { 'ip-restriction': { whitelist: null, blacklist: ['10.0.0.1'] } } }],
  ])('opens to everybody %s', async (_, body) => {
    expect((await ask('PATCH', ROUTE, body)).status).toBe(200);
    expect(await open()).toEqual(['0.0.0.0/0 unmanaged', '::/0 unmanaged']);
  });

  it('closes an object with a list, also when the plugin is created with it', async () => {
    await ask('PATCH', ROUTE, { plugins: { 'ip-restriction': null } });
    expect((await ask('PATCH', LIST, ['0.0.0.0/32'])).status).toBe(200);
    expect(await open()).toEqual([]);
  });

  it.each([
    ['GET', 'routes/another', 404, 'Key not found'],
    ['PATCH', 'routes/another', 404, 'Key not found'],
    ['GET', 'services/simulated-route-1', 404, 'Key not found'],
  ])('%s %s is %i', async (method, path, status, message) => {
    const answer = await ask(method, path, method === 'PATCH' ? {} : undefined);
    expect(answer).toEqual({ status, body: { message } });
  });

  it('refuses other methods, and paths outside the Admin API', async () => {
    expect((await ask('DELETE', ROUTE)).status).toBe(405);
    expect((await ask('GET', 'upstreams/1')).status).toBe(404);
    expect(await (await fetch(`${simulator.url}/apisix-gateway/simulated-route-1/x`)).json()).toEqual({
      error_msg: '404 Route Not Found',
    });
  });

  it('lets another program add and remove entries', async () => {
    await ask('PATCH', LIST, ['203.0.113.7/32'], asDrawbridge);
    const rule = { provider: 'APISIX', target: 'simulated-route-1', address: '203.0.113.8' };
    expect(await (await control('POST', '/_rules', rule)).json()).toMatchObject({
      address: '203.0.113.8',
      protocol: 'all',
      ours: false,
    });
    expect(await open()).toEqual(['203.0.113.7 ours', '203.0.113.8 unmanaged']);
    const gone = '/_rules?provider=APISIX&target=simulated-route-1&address=203.0.113.7';
    expect(await (await control('DELETE', gone)).json()).toMatchObject({
      removed: [{ address: '203.0.113.7' }],
    });
    expect(await open()).toEqual(['203.0.113.8 unmanaged']);
    expect((await control('POST', '/_rules', { ...rule, address: 'nonsense' })).status).toBe(409);
    const last = '/_rules?provider=APISIX&target=simulated-route-1&address=203.0.113.8';
    expect((await control('DELETE', last)).status).toBe(409);
  });
});
