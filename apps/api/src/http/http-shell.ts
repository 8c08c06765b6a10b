import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestMethod } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import helmet from 'helmet';
import { Logger } from 'nestjs-pino';
import type { ApiSettings } from '../api.settings';
import { API_PREFIX } from '../errors';
import { rememberCallerAddress } from './caller-address';
import { PAGE_PATHS } from './browser-pages';
import { nameRequest } from './request-id';

const EXPOSED_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
  'X-Total-Count',
  'Link',
  'Idempotency-Replayed',
];

// longer than a load balancer keeps an idle connection, so that it is never ours that closes first
const KEEP_ALIVE_MS = 65_000;
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;

const PAGES = PAGE_PATHS.map((path) => ({ path: `${path}/{*path}`, method: RequestMethod.ALL }));

/** Everything around the routes: prefix, headers, origins, time limits of connections. */
export function dressApplication(app: NestExpressApplication, settings: ApiSettings): void {
  app.setGlobalPrefix(API_PREFIX.slice(1), { exclude: PAGES });
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(nameRequest);
  const log = app.get(Logger);
  app.use(rememberCallerAddress(settings.TRUSTED_PROXIES, (warning) => log.warn(warning)));
  app.use('/docs', docsHeaders);
  app.use(API_PREFIX, apiHeaders, notStored);
  if (settings.CORS_ORIGINS.length > 0) {
    app.enableCors({ origin: [...settings.CORS_ORIGINS], exposedHeaders: EXPOSED_HEADERS, maxAge: 600 });
  }
  const server = app.getHttpServer();
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
}

const apiHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
});

/** Answers carry tokens, keys and what only their reader may know: nothing on the way keeps them. */
function notStored(_request: IncomingMessage, response: ServerResponse, next: () => void): void {
  response.setHeader('Cache-Control', 'no-store');
  next();
}

// the page brings its own scripts and styles, the latter partly inline
const docsHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      frameAncestors: ["'none'"],
    },
  },
});
