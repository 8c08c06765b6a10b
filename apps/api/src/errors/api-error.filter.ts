import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { errorBodyOf } from './error-body';
import { API_PREFIX } from './error-shape';
import { failureOf, type Failure } from './failure';

const NOT_FOUND = 404;
const UNAUTHORIZED = 401;

/** The last stop of everything thrown: answers in the path's shape, logs what nobody foresaw. */
@Catch()
export class ApiErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const path = pathOf(request);
    const failure = outsideApi(failureOf(exception), path);
    if (failure.unexpected) this.logger.error(describe(exception, request, path));
    if (response.headersSent) {
      // half an answer is out: cutting it is the only honest end
      response.destroy();
      return;
    }
    if (failure.status === UNAUTHORIZED) response.setHeader('WWW-Authenticate', 'Bearer');
    for (const [name, value] of Object.entries(failure.headers ?? {})) response.setHeader(name, value);
    response.status(failure.status).json(errorBodyOf(failure, path, new Date()));
  }
}

const pathOf = (request: Request): string => request.originalUrl.replace(/[?#].*$/s, '');

function outsideApi(failure: Failure, path: string): Failure {
  if (failure.status !== NOT_FOUND || path.toLowerCase().startsWith(`${API_PREFIX}/`)) return failure;
  return { ...failure, message: `There is nothing here: the API is only under ${API_PREFIX}` };
}

/** What the log may hold: never a query's parameters or a row's values, which some errors carry as properties. */
function describe(exception: unknown, request: Request, path: string): object {
  const error = exception instanceof Error ? exception : new Error(`thrown: ${typeof exception}`);
  return {
    msg: 'A request failed unexpectedly',
    method: request.method,
    path,
    failure: { name: error.name, message: error.message, stack: error.stack },
  };
}
