import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { get, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import express from 'express';
import request, { type Test } from 'supertest';
import { serveConsole } from './serve-console';

const PAGE = '<!doctype html><script type="module" src="/assets/index-1a2b.js"></script>';
const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' https://ipv4.example.com; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
  "trusted-types 'none'";

describe('serveConsole', () => {
  const root = mkdtempSync(join(tmpdir(), 'drawbridge-console-'));
  const folder = join(root, 'console');
  const app = express().disable('x-powered-by').set('etag', false);
  app.use(serveConsole(['https://ipv4.example.com'], folder));
  app.use((_asked, response) => void response.status(404).send('nothing'));

  let server: Server;

  beforeAll(() => {
    server = app.listen(0);
    mkdirSync(join(folder, 'assets'), { recursive: true });
    writeFileSync(join(root, 'secret.txt'), 'secret');
    const files = { 'index.html': PAGE, 'favicon.svg': '<svg/>', 'assets/index-1a2b.js': 'run()' };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(folder, name), text);
      writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
      writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
    }
    writeFileSync(join(folder, 'assets/large-1.js'), Buffer.alloc(30_000_000));
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
    rmSync(root, { recursive: true });
  });

  const open = (path: string, accept = BROWSER): Test =>
    request(app).get(path).set('Accept', accept).set('Accept-Encoding', 'identity');

  it.each(['/', '/sign-in', '/accept-invitation/x_-y', '/resources/1?tab=events', '/users/ada@example.com'])(
    'a browser that opens %s gets the page with its headers',
    async (path) => {
      const { status, text, headers } = await open(path);
      expect([status, text]).toEqual([200, PAGE]);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': CSP,
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
        vary: 'Accept, Accept-Encoding',
      });
      expect((await request(app).head(path).set('Accept', BROWSER)).status).toBe(200);
    },
  );

  it.each([
    ['/api/v1/nothing', BROWSER],
    ['/API/v2', BROWSER],
    ['/o/x', BROWSER],
    ['/.well-known/security.txt', BROWSER],
    ['/assets', BROWSER],
    ['/assets/../../secret.txt', '*/*'],
    ['/assets/%2e%2e%2f%2e%2e%2fsecret.txt', '*/*'],
    ['/..%2fsecret.txt', '*/*'],
    ['/index.html%00', '*/*'],
    [`/${'a'.repeat(5000)}`, '*/*'],
    ['/v1/health', '*/*'],
    ['/metrics', BROWSER],
    ['/wp-login.php', BROWSER],
    ['/v1/health', 'application/json'],
  ])('%s for %s is not its own', async (path, accept) => {
    expect((await open(path, accept)).text).toBe('nothing');
  });

  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', undefined],
  ])('to a browser that takes %s it sends %s, made ahead', async (accepted, sent) => {
    for (const path of ['/', '/assets/index-1a2b.js']) {
      const { headers } = await request(app).get(path).set('Accept-Encoding', accepted).buffer(false);
      expect(headers['content-encoding']).toBe(sent);
      expect(headers['content-type']).toMatch(path === '/' ? 'text/html' : 'text/javascript');
    }
  });

  const onLinux = existsSync('/proc/self/fd') ? describe : describe.skip;
  onLinux('on Linux', () => {
    it('a browser that goes while it reads leaves no file open', async () => {
      const { port } = server.address() as { port: number };
      const isOpen = (): boolean => readdirSync('/proc/self/fd').length > before + 5;
      const before = readdirSync('/proc/self/fd').length;
      for (let turn = 0; turn < 20; turn += 1)
        await new Promise<void>((done) => {
          get({ port, path: '/assets/large-1.js' }, (response) =>
            response.once('data', () => {
              response.destroy();
              done();
            }),
          );
        });
      const end = Date.now() + 5000;
      while (isOpen() && Date.now() < end) await new Promise((done) => setTimeout(done, 20));
      expect(isOpen()).toBe(false);
    });
  });
});
