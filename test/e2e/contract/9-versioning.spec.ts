import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Drawbridge } from '../../harness/product/drawbridge';

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, unknown>>;
}

describe('9 Versioning', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let served: Document;

  beforeAll(async () => {
    served = (await (await ask('/api/v1/openapi.json')).json()) as Document;
  });

  const ask = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${drawbridge.apiServer.port}${path}`);

  it('every path begins with /api/v1/, except downloads, which are files, what clients ask first, and what clouds fetch of issuers', () => {
    const others = Object.keys(served.paths).filter((path) => !path.startsWith('/api/v1/'));
    expect(others).toEqual([
      '/.well-known/drawbridge',
      '/downloads',
      '/downloads/{file}',
      '/oidc/{organizationId}/.well-known/openid-configuration',
      '/oidc/{organizationId}/jwks',
    ]);
    expect(served.info.version).toBe('1');
  });

  it.each(['/health', '/api/health', '/api/v2/health', '/v1/health', '/api/v1.0/health', '/v1'])(
    '%s is no path of this version: 404 in the service’s own shape',
    async (path) => {
      const response = await ask(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({
        timestamp: expect.any(String) as string,
        status: 404,
        error: 'Not Found',
        message: expect.stringContaining('/api/v1') as string,
        path,
      });
    },
  );

  it('the served document is the one in the repository', () => {
    const written = readFileSync(resolve(__dirname, '../../../openapi.json'), 'utf8');
    expect(served).toEqual(JSON.parse(written));
  });

  it('and has a page to read it, which fits phones', async () => {
    const response = await ask('/docs');
    expect(response.headers.get('Content-Type')).toMatch(/^text\/html/);
    const page = await response.text();
    const viewports = page.match(/<meta name="viewport" content="width=device-width, initial-scale=1">/g);
    expect(viewports).toHaveLength(1);
    expect(page).toContain('swagger-ui');
  });

  it('names the address the deployment is reached at', async () => {
    const { port } = await drawbridge.startApi({ PUBLIC_URL: 'https://doors.example.com' });
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/openapi.json`);
    expect(((await response.json()) as Document).servers).toEqual([{ url: 'https://doors.example.com' }]);
    // what is reached over https is never asked for over http: pages, files, documentation, errors
    for (const path of ['/api/v1/health', '/docs', '/downloads', '/accept-invitation', '/nothing']) {
      const { headers } = await fetch(`http://127.0.0.1:${port}${path}`);
      expect([path, headers.get('Strict-Transport-Security')]).toEqual([path, 'max-age=31536000']);
    }
    expect((await ask('/docs')).headers.has('Strict-Transport-Security')).toBe(false);
  });
});
