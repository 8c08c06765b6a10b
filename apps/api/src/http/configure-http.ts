import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import helmet, { type HelmetOptions } from 'helmet';
import type { Logger } from 'pino';
import type { ApiSettings } from '../api.settings';
import { API_PREFIX } from '../errors';
import { detectionOrigins } from '../console/serve-console';
import { PublicAddress } from './public-address';
import { DEFAULT_TRUSTED_PROXIES } from '#rules';
import { rememberCallerAddress } from './caller-address';
import { serveInTurn } from './fair-server';
import { assignRequestId } from './request-id';
import { logRequests } from './request-log';
import { DISCOVERY_PATH, DOWNLOADS_PATH, UNPREFIXED_ROUTES } from './unprefixed-paths';

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

// longer than a load balancer's idle timeout, so that the server never closes a connection first
const KEEP_ALIVE_MS = 65_000;
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;

/** Configures everything around the routes: prefix, headers, CORS, connection timeouts. */
export function configureHttp(app: NestExpressApplication, settings: ApiSettings, log: Logger): void {
  app.setGlobalPrefix(API_PREFIX.slice(1), { exclude: UNPREFIXED_ROUTES });
  app.disable('x-powered-by');
  app.set('etag', false);
  if (settings.PUBLIC_URL?.startsWith('https:')) app.use(demandHttps);
  app.use(assignRequestId);
  app.use(logRequests(log));
  app.use('/docs', docsHeaders);
  app.use(API_PREFIX, apiHeaders, disableCaching);
  app.use([`/${DOWNLOADS_PATH}`, `/${DISCOVERY_PATH}`], apiHeaders);
  if (settings.CONSOLE === 'on' && detectionOrigins(settings).length > 0) {
    app.use(`${API_PREFIX}/detect-ip`, readableBy(app.get(PublicAddress)));
  }
  if (settings.CORS_ORIGINS.length > 0) {
    app.enableCors({ origin: [...settings.CORS_ORIGINS], exposedHeaders: EXPOSED_HEADERS, maxAge: 600 });
  }
  const server = app.getHttpServer();
  serveInTurn(server, {
    remember: rememberCallerAddress(
      { trustedProxies: settings.TRUSTED_PROXIES, refuseLocal: !settings.ALLOW_LOCAL_ADDRESSES },
      (warning) => log.warn(warning),
    ),
    trustedProxies: settings.TRUSTED_PROXIES ?? DEFAULT_TRUSTED_PROXIES,
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
}

/** The console reads it at the addresses of the other origins, too. CORS_ORIGINS replaces it for theirs. */
const readableBy =
  (address: PublicAddress): Middleware =>
  (_request, response, next) => {
    response.setHeader('Access-Control-Allow-Origin', address.origin);
    next();
  };

type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A browser that was here over https uses https for every path from then on. */
function demandHttps(_request: IncomingMessage, response: ServerResponse, next: () => void): void {
  response.setHeader('Strict-Transport-Security', 'max-age=31536000');
  next();
}

/** Express middleware: helmet's headers. They are the same for every request, so they are computed once. */
function securityHeaders(options: HelmetOptions): Middleware {
  const example = new ServerResponse(new IncomingMessage(new Socket()));
  helmet(options)(example.req, example, () => undefined);
  const headers = Object.entries(example.getHeaders());
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value!);
    next();
  };
}

const apiHeaders = securityHeaders({
  hsts: false,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
});

/** Responses carry tokens, keys and confidential data, so no cache may store them. */
function disableCaching(_request: IncomingMessage, response: ServerResponse, next: () => void): void {
  response.setHeader('Cache-Control', 'no-store');
  next();
}

// the page has its own scripts and styles, and some styles are inline
const docsHeaders = securityHeaders({
  hsts: false,
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
