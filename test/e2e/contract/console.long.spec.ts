import { randomUUID } from 'node:crypto';
import { accountOwner, mailedText } from '../../builders/accounts/accounts';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const OPENED = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('The web console', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const open = (
    path: string,
    port = drawbridge.apiServer.port,
    headers: object = OPENED,
  ): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`, { headers: { ...headers } });

  it('is at the paths that a browser opens; API, documentation and files stay what they are', async () => {
    const { headers } = await open('/resources');
    expect(headers.get('content-security-policy')).toMatch(/connect-src 'self'; .* trusted-types 'none'$/);
    expect(headers.get('x-request-id')).not.toBeNull();
    const page = await (await open('/')).text();
    const [, asset] = /src="(\/assets\/[^"]+\.js)"/.exec(page)!;
    const { status, headers: kept } = await open(asset!, undefined, {});
    expect([status, kept.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    for (const path of ['/sign-in', '/accept-invitation/x', '/reset-password/x'])
      expect(await (await open(path)).text()).toBe(page);
    for (const path of ['/api/v1/nothing', '/downloads/nothing', '/assets/nothing.js', '/oidc/nothing']) {
      const answer = await open(path);
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        404,
        expect.stringContaining('json'),
      ]);
    }
    expect(await (await open('/docs')).text()).toContain('swagger-ui');
  });

  it('the token of a mailed link is not in the log', async () => {
    const token = `${randomUUID()}${randomUUID()}`;
    await open(`/accept-invitation/${token}`);
    await until('the request is logged', async () =>
      drawbridge.apiServer.output.includes('/accept-invitation/…'),
    );
    expect(drawbridge.apiServer.output).not.toContain(token);
  });

  it('reads the caller’s addresses of both families where they are set', async () => {
    const { port } = await drawbridge.startApi({
      PUBLIC_URL: 'https://door.example.com/',
      PUBLIC_URL_IPV4: 'https://ipv4.example.com/x',
      PUBLIC_URL_IPV6: 'https://ipv6.example.com:8443',
    });
    expect((await open('/', port)).headers.get('content-security-policy')).toContain(
      "; connect-src 'self' https://ipv4.example.com https://ipv6.example.com:8443; ",
    );
    const allowed = async (path: string): Promise<string | null> =>
      (await open(path, port, {})).headers.get('access-control-allow-origin');
    expect(await allowed('/api/v1/detect-ip')).toBe('https://door.example.com');
    expect(await allowed('/api/v1/health')).toBeNull();
    const alone = await open('/api/v1/detect-ip', undefined, {});
    expect(alone.headers.get('access-control-allow-origin')).toBeNull();
  });

  describe('with CONSOLE=off', () => {
    const off = Drawbridge.own({ worker: false, api: { CONSOLE: 'off' } });

    it('there is none: a mailed link says which request takes its token', async () => {
      for (const [path, message] of [
        ['/', 'the API is under /api/v1'],
        ['/accept-invitation/x', 'POST /api/v1/auth/set-password'],
        ['/reset-password/x', 'POST /api/v1/auth/reset-password'],
      ] as const) {
        const answer = await open(path, off.apiServer.port);
        expect(await answer.json()).toMatchObject({
          status: 404,
          message: expect.stringContaining(message) as string,
        });
      }
    });

    it('mail names the request instead of the link', async () => {
      const { email } = await accountOwner(off);
      await off.api.expect(204, off.api.post('/auth/forgot-password', { email }));
      const text = await until('the mail', async () => mailedText(off, email));
      expect(text).toContain(
        `To set one, within an hour, with POST http://localhost:${off.apiServer.port}/api/v1/auth/reset-password:`,
      );
      expect(text).not.toMatch(/\/reset-password\/[\w-]|here:|at http/);
    });
  });

  it('CONSOLE is on or off', async () => {
    await expect(drawbridge.startApi({ CONSOLE: 'perhaps' })).rejects.toThrow('CONSOLE must be on or off');
  });
});
