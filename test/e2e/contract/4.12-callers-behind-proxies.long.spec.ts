import { request, type OutgoingHttpHeaders } from 'node:http';
import { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

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

describe('4.12 GET /detect-ip and proxies', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

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
