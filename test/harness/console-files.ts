import { existsSync, readFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { BrowserContext } from 'playwright-core';

const BUILT = resolve(__dirname, '../../dist/apps/console');
const TYPES: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.html': 'text/html',
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export const planted = new WeakMap<BrowserContext, string>();

/** Until the API serves it. */
export async function serveConsole(context: BrowserContext): Promise<void> {
  await context.route(
    (url) => !/^\/(?:api|docs|downloads|\.well-known)/.test(url.pathname),
    (route) => {
      const { pathname } = new URL(route.request().url());
      const file = resolve(BUILT, `.${pathname}`);
      const found = extname(file) !== '' && existsSync(file) ? file : resolve(BUILT, 'index.html');
      return route.fulfill({
        body: readFileSync(found, 'utf8') + (extname(found) === '.js' ? (planted.get(context) ?? '') : ''),
        contentType: TYPES[extname(found)]!,
        headers: { 'Content-Security-Policy': POLICY },
      });
    },
  );
}
