import { once } from 'node:events';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { json } from 'node:stream/consumers';
import { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

interface Detected {
  readonly ip: string;
  readonly version: string;
  readonly warnings: readonly string[];
}

/** What each header may name; the rest is libs/rules/src/client-address.spec.ts. */
const NAMED: readonly (readonly [string, OutgoingHttpHeaders, string])[] = [
  ['no header: the socket', {}, '127.0.0.1'],
  [
    'the caller between what it put left of itself and proxies of ours',
    { 'X-Forwarded-For': '198.51.100.66, 203.0.113.7, 10.0.0.9, fd00::1' },
    '203.0.113.7',
  ],
  [
    'several lines, read as one list',
    { 'X-Forwarded-For': ['198.51.100.66', '203.0.113.7, 10.0.0.9', '192.168.1.1'] },
    '203.0.113.7',
  ],
  ['an IPv6 address with a port', { 'X-Forwarded-For': '203.0.113.7, [2001:db8::7]:443' }, '2001:db8::7'],
  ['X-Real-IP alone', { 'X-Real-IP': '203.0.113.8' }, '203.0.113.8'],
  ['Forwarded alone', { Forwarded: 'for=203.0.113.7' }, '203.0.113.7'],
];

describe('4.12 GET /detect-ip and proxies', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  /** With headers as they are: fetch would join the lines of one. */
  const detect = async (port: number, headers: OutgoingHttpHeaders): Promise<Detected> => {
    const asked = request({ host: '127.0.0.1', port, path: '/api/v1/detect-ip', headers }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return (await json(response)) as Detected;
  };

  describe('GET /detect-ip behind a trusted proxy', () => {
    let port: number;
    beforeAll(async () => {
      ({ port } = await drawbridge.startApi({
        TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8,192.168.0.0/16,fd00::/16',
      }));
    });

    it.each(NAMED)('%s', async (_, headers, ip) => {
      const version = ip.includes(':') ? 'IPv6' : 'IPv4';
      await expect(detect(port, headers)).resolves.toEqual({ ip, version, warnings: [] });
    });

    it.each([
      [
        'X-Real-IP beside a chain of our proxies',
        { 'X-Forwarded-For': '10.0.0.9', 'X-Real-IP': '203.0.113.8' },
      ],
      ['an address left of garbage', { 'X-Forwarded-For': '203.0.113.7, unknown' }],
      ['an address of class E', { 'X-Forwarded-For': '240.0.0.7' }],
    ])('%s names nobody: 400, never the proxy', async (_, headers) => {
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

  it('GET /detect-ip from a peer that is no trusted proxy: headers count for nothing', async () => {
    const { port } = await drawbridge.startApi({ TRUSTED_PROXIES: '203.0.113.240/28' });
    for (const [, headers] of NAMED)
      expect(await detect(port, headers)).toEqual({ ip: '127.0.0.1', version: 'IPv4', warnings: [] });
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
