import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fetchDocumented } from '../harness/contract/published-contract';
import { Drawbridge } from '../harness/product/drawbridge';

const { version } = JSON.parse(readFileSync(resolve(__dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

describe('Clients discover a server', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const discover = async (port: number): Promise<{ headers: Headers; body: unknown }> => {
    const { headers, bytes } = await fetchDocumented(`http://127.0.0.1:${port}`, '/.well-known/drawbridge');
    return { headers, body: JSON.parse(bytes.toString()) as unknown };
  };

  it('with its release; without settings no address per family', async () => {
    const { body, headers } = await discover(drawbridge.apiServer.port);
    expect(body).toEqual({ version, ipv4Url: null, ipv6Url: null });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-ratelimit-limit')).toBeNull();
  });

  it.each(['/assets/nothing.js', '/o/nothing', '/.env', '/openapi.json', '/metrics'])(
    'and not %s, which is none of its paths',
    async (path) => {
      const url = `http://127.0.0.1:${drawbridge.apiServer.port}${path}`;
      const { status, headers } = await fetch(url, { headers: { accept: 'text/html' } });
      expect([status, headers.get('x-content-type-options')]).toEqual([404, 'nosniff']);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    },
  );

  it('with the addresses it was given', async () => {
    const urls = { PUBLIC_URL_IPV4: 'https://ipv4.example.com', PUBLIC_URL_IPV6: 'https://ipv6.example.com' };
    const api = await drawbridge.startApi(urls);
    const { body } = await discover(api.port);
    expect(body).toEqual({ version, ipv4Url: urls.PUBLIC_URL_IPV4, ipv6Url: urls.PUBLIC_URL_IPV6 });
  });

  it('an address that is none prevents the start, by name', async () => {
    await expect(drawbridge.startApi({ PUBLIC_URL_IPV6: 'ipv6.example.com' })).rejects.toThrow(
      'PUBLIC_URL_IPV6 must be an http or https address',
    );
  });
});
