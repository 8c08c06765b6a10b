import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pino, type Logger } from 'pino';
import { LogSink } from '#logs';
import { callerAddressOf } from './caller-address';
import { loggedPath } from './logged-path';
import { requestIdOf } from './request-id';

type LoggedRequest = IncomingMessage & { originalUrl?: string };
type Middleware = (request: LoggedRequest, response: ServerResponse, next: () => void) => void;

const HEALTH_PATH = '/api/v1/health';

/** The id alone: the keep-alive timer of a connection holds it until the next request. */
const requestIds = new AsyncLocalStorage<string | null>();

/** The API's log: JSON lines to standard output. Those written during a request have its `requestId`. */
export const apiLog = (level: string): Logger =>
  pino(
    {
      level,
      serializers: { err: () => undefined },
      mixin: () => {
        const requestId = requestIds.getStore();
        return requestId === undefined ? {} : { requestId };
      },
    },
    new LogSink(process.stdout),
  );

/**
 * Express middleware: one line per request when it has ended, except of health checks. Headers, body and query are
 * omitted: they may contain secrets.
 */
export const logRequests =
  (log: Logger): Middleware =>
  (request, response, next) => {
    const began = performance.now();
    response.once('close', () => {
      const path = loggedPath(request.originalUrl ?? request.url ?? '');
      if (path.startsWith(HEALTH_PATH)) return;
      const line = {
        requestId: requestIdOf(request),
        method: request.method,
        path,
        status: response.statusCode,
        ms: Math.round(performance.now() - began),
        caller: callerAddressOf(request)?.text ?? null,
      };
      if (response.statusCode >= 500) log.error(line, 'request');
      else log.info(line, 'request');
    });
    requestIds.run(requestIdOf(request), next);
  };
