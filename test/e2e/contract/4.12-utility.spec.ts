import { request, type OutgoingHttpHeaders } from 'node:http';
import { ApiClient } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';
import { freePort } from '../../harness/free-port';
import { SeverableConnection } from '../../harness/severable-connection';
import { until } from '../../harness/until';

interface Detected {
  readonly ip: string;
  readonly version: string;
  readonly warnings: readonly string[];
}

interface Case {
  readonly name: string;
  readonly headers: OutgoingHttpHeaders;
  readonly ip: string;
}

const TRUSTING: readonly Case[] = [
  { name: 'no header: the socket', headers: {}, ip: '127.0.0.1' },
  { name: 'one address', headers: { 'X-Forwarded-For': '203.0.113.7' }, ip: '203.0.113.7' },
  {
    name: 'what the caller put left of itself',
    headers: { 'X-Forwarded-For': '198.51.100.66, 203.0.113.7' },
    ip: '203.0.113.7',
  },
  {
    name: 'proxies of ours right of the caller',
    headers: { 'X-Forwarded-For': '198.51.100.66, 203.0.113.7, 10.0.0.9, fd00::1' },
    ip: '203.0.113.7',
  },
  {
    name: 'several lines, read as one list',
    headers: { 'X-Forwarded-For': ['198.51.100.66', '203.0.113.7, 10.0.0.9', '192.168.1.1'] },
    ip: '203.0.113.7',
  },
  { name: 'a port', headers: { 'X-Forwarded-For': '203.0.113.7:50123' }, ip: '203.0.113.7' },
  { name: 'an IPv6 address', headers: { 'X-Forwarded-For': '2001:DB8::7' }, ip: '2001:db8::7' },
  {
    name: 'an IPv6 address with a port',
    headers: { 'X-Forwarded-For': '203.0.113.7, [2001:db8::7]:443' },
    ip: '2001:db8::7',
  },
  { name: 'an IPv4-mapped address', headers: { 'X-Forwarded-For': '::ffff:203.0.113.7' }, ip: '203.0.113.7' },
  { name: 'X-Real-IP alone', headers: { 'X-Real-IP': '203.0.113.8' }, ip: '203.0.113.8' },
  {
    name: 'X-Forwarded-For before X-Real-IP',
    headers: { 'X-Forwarded-For': '203.0.113.7', 'X-Real-IP': '203.0.113.8' },
    ip: '203.0.113.7',
  },
  { name: 'Forwarded alone', headers: { Forwarded: 'for=203.0.113.7' }, ip: '203.0.113.7' },
];

/** Headers that name nobody usable. */
const NAMING_NOBODY: readonly (readonly [string, OutgoingHttpHeaders])[] = [
  [
    'no X-Real-IP beside a chain of our proxies',
    { 'X-Forwarded-For': '10.0.0.9', 'X-Real-IP': '203.0.113.8' },
  ],
  ['no X-Real-IP beside garbage', { 'X-Forwarded-For': 'x', 'X-Real-IP': '203.0.113.8' }],
  ['garbage right of the caller hides it', { 'X-Forwarded-For': '203.0.113.7, unknown' }],
  ['garbage everywhere', { 'X-Forwarded-For': 'x', 'X-Real-IP': 'y' }],
  ['class E, for an IPv6 caller', { 'X-Forwarded-For': '240.0.0.7' }],
];

describe('4.12 Utility', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let api: ApiClient;

  beforeAll(async () => {
    ({ api } = drawbridge);
  });

  it('GET /health is UP, without credentials', async () => {
    const { status, body } = await api.get('/health');
    expect([status, body]).toEqual([200, { status: 'UP' }]);
  });

  it('GET /health/ready says that database and queue answer, and that no worker is there', async () => {
    const { status, body } = await api.get('/health/ready');
    expect([status, body]).toEqual([
      200,
      { status: 'DEGRADED', database: 'UP', queue: 'UP', worker: 'AWAY' },
    ]);
  });

  it('with the database gone the process is alive, not ready (503), and ready again when it is back', async () => {
    const way = await SeverableConnection.to(drawbridge.databaseUrl);
    const metricsPort = await freePort();
    const { port } = await drawbridge.startApi({ DATABASE_URL: way.url, METRICS_PORT: String(metricsPort) });
    const lonely = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
    await way.cut();
    const ready = await lonely.get('/health/ready');
    expect([ready.status, ready.body]).toEqual([
      503,
      { status: 'DOWN', database: 'DOWN', queue: 'DOWN', worker: 'AWAY' },
    ]);
    // no figure of the database is shown as if it were known
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/^drawbridge_sweep_age_seconds \+Inf$/m);
    expect(metrics).toMatch(/^drawbridge_overdue_rules\{provider="AWS"\} Nan$/m);
    expect((await lonely.get('/health')).status).toBe(200);
    await way.restore();
    await until('it is ready', async () => (await lonely.get('/health/ready')).status === 200);
    await way.cut();
  });

  it('health does not mind credentials that are worth nothing', async () => {
    const forger = api.as({ token: 'not.a.token' });
    expect((await forger.get('/health')).status).toBe(200);
    expect((await forger.get('/detect-ip')).status).toBe(200);
  });

  /** With headers as they are: fetch would join the lines of one. */
  const detect = (port: number, headers: OutgoingHttpHeaders, host = '127.0.0.1'): Promise<Detected> =>
    new Promise((resolve, reject) => {
      const asked = request({ host, port, path: '/api/v1/detect-ip', headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(JSON.parse(text) as Detected));
      });
      asked.on('error', reject);
      asked.end();
    });

  describe('GET /detect-ip behind a trusted proxy', () => {
    let port: number;
    beforeAll(async () => {
      ({ port } = await drawbridge.startApi({
        TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8,192.168.0.0/16,fd00::/16',
      }));
    });

    it.each(TRUSTING.map((one) => [one.name, one] as const))('%s', async (_, { headers, ip }) => {
      const version = ip.includes(':') ? 'IPv6' : 'IPv4';
      await expect(detect(port, headers)).resolves.toEqual({ ip, version, warnings: [] });
    });

    it.each(NAMING_NOBODY)('%s: 400, never the proxy', async (_, headers) => {
      await expect(detect(port, headers)).resolves.toMatchObject({
        message: expect.stringMatching(/^Your address could not be detected: this service saw /) as string,
      });
    });
  });

  it('GET /detect-ip warns of a private address, such as one behind carrier-grade NAT', async () => {
    const { port } = await drawbridge.startApi({ TRUSTED_PROXIES: '127.0.0.1' });
    const { warnings } = await detect(port, { 'X-Forwarded-For': '100.64.3.7' });
    expect(warnings).toEqual([expect.stringMatching('^100.64.3.7 is private')]);
  });

  describe('GET /detect-ip from a peer that is no trusted proxy', () => {
    let port: number;
    beforeAll(async () => {
      ({ port } = await drawbridge.startApi({ TRUSTED_PROXIES: '203.0.113.240/28' }));
    });

    it.each(TRUSTING.map((one) => [one.name, one] as const))(
      'headers count for nothing: %s',
      async (_, { headers }) => {
        await expect(detect(port, headers)).resolves.toEqual({
          ip: '127.0.0.1',
          version: 'IPv4',
          warnings: [],
        });
      },
    );
  });

  it('only loopback is a trusted proxy by default', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7, 10.0.0.9' };
    const detected = await detect(drawbridge.apiServer.port, headers);
    expect(detected).toMatchObject({ ip: '10.0.0.9', version: 'IPv4' });
  });

  it('only the proxies a deployment names are passed over', async () => {
    const { port } = await drawbridge.startApi({ TRUSTED_PROXIES: '127.0.0.1/32,198.51.100.0/24' });
    const headers = { 'X-Forwarded-For': '203.0.113.7, 10.0.0.9, 198.51.100.4' };
    await expect(detect(port, headers)).resolves.toMatchObject({ ip: '10.0.0.9', version: 'IPv4' });
  });

  it('a caller is counted by its detected address, regardless of the port', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.99:1234' };
    const { port } = await drawbridge.startApi({ RATE_LIMIT_PER_MINUTE: '2' });
    const counted = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
    const statuses: number[] = [];
    for (const from of [headers, { 'X-Forwarded-For': '203.0.113.99' }, headers]) {
      statuses.push((await counted.send('GET', '/detect-ip', undefined, from)).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });
});
