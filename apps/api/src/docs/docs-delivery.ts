import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { NextFunction, Request, Response } from 'express';

const compress = promisify(gzip);

const COMPRESSIBLE = /^(text\/|application\/(json|javascript)|image\/svg)/;
const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">';
/** The page has fewer than ten files. */
const MAX_FILES = 20;

interface File {
  readonly type: string;
  readonly body: Buffer;
}

type Chunk = Buffer | Uint8Array | string;

/**
 * Express middleware for the API's documentation: adds a viewport for phones and caches each compressed file. The files
 * do not change while the process runs.
 */
export function deliverDocs(): (request: Request, response: Response, next: NextFunction) => void {
  const files = new Map<string, File>();
  return (request, response, next) => {
    if (request.method !== 'GET') return next();
    const path = request.originalUrl.split('?', 1)[0]!;
    const takesGzip = request.acceptsEncodings('gzip') === 'gzip';
    const known = files.get(path);
    if (known && takesGzip) return send(response, known, true);
    // a partial or 304 response would be cached as the complete file
    delete request.headers.range;
    delete request.headers['if-none-match'];
    delete request.headers['if-modified-since'];
    collect(response, async (body) => {
      const type = String(response.getHeader('content-type') ?? '');
      const whole = type.startsWith('text/html') ? addViewport(body) : body;
      if (response.statusCode !== 200 || !COMPRESSIBLE.test(type))
        return { type, body: whole, isGzip: false };
      const file = { type, body: await compress(whole) };
      if (files.size < MAX_FILES) files.set(path, file);
      return takesGzip ? { ...file, isGzip: true } : { type, body: whole, isGzip: false };
    });
    next();
  };
}

const addViewport = (page: Buffer): Buffer =>
  Buffer.from(page.toString('utf8').replace('<head>', `<head>\n  ${VIEWPORT}`), 'utf8');

/** Buffers the response body until it is complete. @param finish converts it to the file that is sent */
function collect(response: Response, finish: (body: Buffer) => Promise<File & { isGzip: boolean }>): void {
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown, encoding: unknown): void => {
    if (typeof chunk === 'string') {
      chunks.push(Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'));
    } else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const own = { write: response.write.bind(response), end: response.end.bind(response) };
  response.write = (chunk: Chunk, encoding?: unknown): boolean => {
    keep(chunk, encoding);
    return true;
  };
  response.end = (chunk?: unknown, encoding?: unknown): Response => {
    keep(chunk, encoding);
    Object.assign(response, own);
    finish(Buffer.concat(chunks)).then(
      ({ isGzip, ...file }) => send(response, file, isGzip),
      () => response.destroy(),
    );
    return response;
  };
}

function send(response: Response, { type, body }: File, isGzip: boolean): void {
  if (type !== '') response.setHeader('Content-Type', type);
  response.setHeader('Vary', 'Accept-Encoding');
  for (const name of ['Accept-Ranges', 'ETag', 'Last-Modified']) response.removeHeader(name);
  if (isGzip) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Length', body.length);
  response.end(body);
}
