import { STATUS_CODES } from 'node:http';
import { Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { loggedPath } from './logged-path';
import { requestIdOf } from './request-id';
import { isPage } from './browser-pages';
import { Markup, sendPage, type BrowserPage } from '../pages/browser-page';
import { errorBodyOf } from '../errors/error-body';
import { failureOf, type Failure } from '../errors/failure';

const UNAUTHORIZED = 401;
const TOO_MANY_REQUESTS = 429;

/** Event of a response with 401, also when its client is gone. */
export const CREDENTIAL_REFUSED = 'credential-refused';

const FOREIGN_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

const logger = new Logger('Errors');

/** Sends the error body of the path's shape, or a page for browser paths. Logs unexpected errors. */
export function sendErrorResponse(exception: unknown, request: Request, response: Response): void {
  const path = request.originalUrl.replace(/[?#].*/s, '');
  const failure = failureOf(exception);
  if (failure.unexpected) logger.error(logEntryOf(exception, request, loggedPath(path)));
  if (response.headersSent) {
    // part of the response was sent: closing the connection is the only way to signal the failure
    response.destroy();
    return;
  }
  // the route may have allowed caches to keep what it returns
  response.setHeader('Cache-Control', 'no-store');
  // no route of the API has answered, whose answers have them
  if (!response.hasHeader('Content-Security-Policy')) response.set(FOREIGN_HEADERS);
  if (failure.status === UNAUTHORIZED) {
    response.setHeader('WWW-Authenticate', 'Bearer');
    response.emit(CREDENTIAL_REFUSED);
  }
  // who is refused over and over has to connect over and over
  if (failure.status === TOO_MANY_REQUESTS) response.setHeader('Connection', 'close');
  for (const [name, value] of Object.entries(failure.headers ?? {})) response.setHeader(name, value);
  if (isPage(path.slice(1).toLowerCase())) sendPage(response, pageOf(failure));
  else response.status(failure.status).json(errorBodyOf(failure, path, new Date()));
}

const pageOf = ({ status, message }: Failure): BrowserPage => ({
  status,
  title: STATUS_CODES[status] ?? 'Refused',
  body: Markup.of`<p>${message}.</p>`,
});

/** Omits query parameters and row values, which some errors carry as properties. */
function logEntryOf(exception: unknown, request: Request, path: string): object {
  const error = exception instanceof Error ? exception : new Error(`thrown: ${typeof exception}`);
  return {
    msg: 'A request failed unexpectedly',
    requestId: requestIdOf(request),
    method: request.method,
    path,
    failure: { name: error.name, message: error.message, stack: error.stack },
  };
}
