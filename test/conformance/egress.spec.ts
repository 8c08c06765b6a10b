import { DriverRegistry, routeEgress, type DriverError, type CloudDriver } from '#drivers';
import { startSimulator } from '../../apps/simulator/src/start-simulator';
import { simulatedObjects } from '../builders/resources/driver-load';
import { ConnectProxy } from '../harness/network/connect-proxy';
import { simulatedClouds } from '../harness/product/drawbridge';
import { addition } from './driver-actions';

/** The URL of its gateway is a tenant's. */
const DIRECT = 'APISIX';
const VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'];

describe.each(DriverRegistry.driven)('The calls of %s', (provider) => {
  let proxy: ConnectProxy;
  let simulator: Awaited<ReturnType<typeof startSimulator>>;

  beforeAll(async () => {
    proxy = await ConnectProxy.start('egress:word');
    simulator = await startSimulator({ port: 0 });
  });
  afterEach(() => {
    routeEgress(undefined);
    proxy.requests.length = 0;
    for (const name of VARIABLES) delete process.env[name];
  });
  afterAll(async () => {
    await proxy.stop();
    await simulator.close();
  });

  const target = () => {
    const objects = simulatedObjects(simulator.url);
    return { ...objects[provider as keyof typeof objects], claims: new Map<string, never>() };
  };
  const driver = (): Promise<CloudDriver> =>
    new DriverRegistry(simulatedClouds(simulator.url)).driver(provider);

  it('go through the proxy of EGRESS_PROXY, except to URLs of tenants', async () => {
    routeEgress(proxy.url);
    await (await driver()).readRules(target());
    const through = new Set(proxy.requests);
    expect([...through]).toEqual(provider === DIRECT ? [] : [`CONNECT ${new URL(simulator.url).host}`]);
  });

  it('go directly without it, whatever the environment names', async () => {
    for (const name of VARIABLES) process.env[name] = proxy.url;
    await (await driver()).readRules(target());
    expect(proxy.requests).toEqual([]);
  });

  it('had no effect when the proxy refuses them', async () => {
    if (provider === DIRECT) return;
    routeEgress(proxy.url);
    proxy.refuseWith = 403;
    const change = addition({ address: '203.0.113.7/32', protocol: 'tcp', ports: [{ from: 22, to: 22 }] });
    const failure = { kind: 'transient', message: expect.stringContaining('EGRESS_PROXY_FAILED') as string };
    const results = await (
      await driver()
    )
      .applyChanges(target(), [change])
      .catch(({ kind, message }: DriverError) => [{ result: 'refused', kind, message }]);
    expect(results).toMatchObject([{ result: 'refused', ...failure }]);
  });
});
