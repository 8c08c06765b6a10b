import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Params } from 'nestjs-pino';
import { RequestMethod } from '@nestjs/common';
import { LogSink } from '#logs';
import { callerAddressOf } from './caller-address';
import { loggedPath } from './logged-path';
import { requestIdOf } from './request-id';

type LoggedRequest = IncomingMessage & { originalUrl?: string };

const pathOf = (request: LoggedRequest): string => loggedPath(request.originalUrl ?? request.url ?? '');

/** The log entry of a request. Headers, body and query are omitted: they may contain secrets. */
function logEntryOf(request: LoggedRequest, response: ServerResponse, ms: number): object {
  return {
    method: request.method,
    path: pathOf(request),
    status: response.statusCode,
    ms,
    caller: callerAddressOf(request)?.text ?? null,
  };
}

const msOf = (value: unknown): number =>
  typeof value === 'object' && value !== null && 'ms' in value && typeof value.ms === 'number' ? value.ms : 0;

/** Settings of nestjs-pino: one JSON line per request, built from an allow-list of fields. */
export function requestLog(level: string): Params {
  return {
    forRoutes: [{ path: '{*path}', method: RequestMethod.ALL }],
    pinoHttp: {
      level,
      stream: new LogSink(process.stdout),
      genReqId: (request) => requestIdOf(request) ?? '',
      autoLogging: { ignore: (request: LoggedRequest) => pathOf(request).startsWith('/api/v1/health') },
      quietReqLogger: true,
      quietResLogger: true,
      customAttributeKeys: { responseTime: 'ms', reqId: 'requestId' },
      serializers: { req: () => undefined, res: () => undefined, err: () => undefined },
      customLogLevel: (_request, response) => (response.statusCode >= 500 ? 'error' : 'info'),
      customSuccessMessage: () => 'request',
      customErrorMessage: () => 'request',
      customSuccessObject: (request: LoggedRequest, response, value) =>
        logEntryOf(request, response, msOf(value)),
      customErrorObject: (request: LoggedRequest, response, _error, value) =>
        logEntryOf(request, response, msOf(value)),
    },
  };
}
