import { simulatorDuringTests } from '../simulator.testing';

const ROUTE = 'routes/simulated-route-1';
const LIST = `${ROUTE}/plugins/ip-restriction/whitelist`;
const PLUGIN = 'failed to check the configuration of plugin ip-restriction err: ';

// that it does what the driver asks for: the conformance suite
describe('Simulated Admin API', () => {
  const simulator = simulatorDuringTests();

  const patch = async (path: string, body: unknown): Promise<{ status: number; error: string }> => {
    const response = await fetch(`${simulator.url}/apisix-gateway/apisix/admin/${path}`, {
      method: 'PATCH',
      headers: { 'x-api-key': 'simulated-admin-key' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const { error_msg: error = '' } = (await response.json()) as { error_msg?: string };
    return { status: response.status, error };
  };
  const listOpen = async (): Promise<string[]> =>
    (await simulator.openRules('provider=APISIX&target=simulated-route-1')).map(
      ({ address, ours }) => `${address} ${ours ? 'ours' : 'unmanaged'}`,
    );

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
    const answer = await patch(path, body);
    expect(answer.status).toBe(400);
    expect(answer.error).toContain(message);
    expect(await listOpen()).toEqual([]);
  });

  it.each([
    ['without the plugin', { plugins: { 'ip-restriction': null } }],
    ['with the plugin disabled', { plugins: { 'ip-restriction': { _meta: { disable: true } } } }],
    ['with a blacklist', { plugins: { 'ip-restriction': { whitelist: null, blacklist: ['10.0.0.1'] } } }],
  ])('opens to everybody %s', async (_, body) => {
    expect((await patch(ROUTE, body)).status).toBe(200);
    expect(await listOpen()).toEqual(['0.0.0.0/0 unmanaged', '::/0 unmanaged']);
  });

  it('closes an object with a list, also when the plugin is created with it', async () => {
    await patch(ROUTE, { plugins: { 'ip-restriction': null } });
    expect((await patch(LIST, ['0.0.0.0/32'])).status).toBe(200);
    expect(await listOpen()).toEqual([]);
  });
});
