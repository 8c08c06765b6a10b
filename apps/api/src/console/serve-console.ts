import { stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { ApiSettings } from '../api.settings';

/** What the build wrote: `index.html` and `assets`, beside the compiled applications. */
const CONSOLE_FOLDER = resolve(__dirname, '../../../console');

/** The compressed files beside each file, best first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const INDEX = 'index.html';
/** A file of the build: no other path reaches the disk. */
const FILE = /^\/((?:assets\/)?[\w-][\w.-]*)$/;
const ASSET = /^assets\//;
/** Paths of others, and those of files: a browser that asks for something unknown there gets an error. No screen has such an address. */
const OF_OTHERS =
  /^\/(?:api|docs|downloads|o|oidc|assets|metrics)(?:\/|$)|^\/\.|\.(?:json|ya?ml|php|env|txt|xml)$/i;

/** The addresses where a console reads its caller's IPv4 and IPv6 address. */
export const detectionOrigins = ({
  PUBLIC_URL_IPV4,
  PUBLIC_URL_IPV6,
}: Pick<ApiSettings, 'PUBLIC_URL_IPV4' | 'PUBLIC_URL_IPV6'>): string[] =>
  [PUBLIC_URL_IPV4, PUBLIC_URL_IPV6].flatMap((url) => (url === undefined ? [] : [new URL(url).origin]));

/**
 * Express middleware: the files of the console, and its page for every other path that a browser opens. Where none was built
 * it does nothing.
 * @param origins other origins that the page reads from
 */
export function serveConsole(origins: readonly string[], folder = CONSOLE_FOLDER): RequestHandler {
  const headers = headersFor(origins);
  return async (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const [, file] = FILE.exec(request.path) ?? [];
    if (file !== undefined && (await send(file, request, response, next))) return;
    const opensPage = request.path === '/' || (request.headers.accept?.includes('text/html') ?? false);
    const isPage = opensPage && !OF_OTHERS.test(request.path);
    if (!isPage || !(await send(INDEX, request, response, next))) next();
  };

  /** @returns false: there is no such file */
  async function send(
    name: string,
    request: Request,
    response: Response,
    next: NextFunction,
  ): Promise<boolean> {
    if (!(await isFile(join(folder, name)))) return false;
    let ending = '';
    for (const [encoding, suffix] of ENCODINGS) {
      if (!request.acceptsEncodings(encoding) || !(await isFile(join(folder, name + suffix)))) continue;
      response.setHeader('Content-Encoding', encoding);
      ending = suffix;
      break;
    }
    response.set(headers).type(extname(name));
    response.vary(name === INDEX ? 'Accept, Accept-Encoding' : 'Accept-Encoding');
    response.setHeader(
      'Cache-Control',
      ASSET.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    );
    // a time says too little: all releases may have been built at one
    const options = { root: folder, cacheControl: false, lastModified: false, acceptRanges: false };
    response.sendFile(name + ending, options, (error: Error | undefined) => {
      if (!error) return;
      // most often the browser is gone; else the end of the connection says that the file is not whole
      if (response.headersSent) return void response.destroy();
      response.removeHeader('Content-Encoding');
      next(error);
    });
    return true;
  }
}

const headersFor = (origins: readonly string[]): Record<string, string> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...origins].join(' '),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
});

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ENAMETOOLONG') return false;
      throw error;
    },
  );
