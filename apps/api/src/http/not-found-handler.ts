import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { API_PREFIX, notFound } from '../errors';
import { sendErrorResponse } from './send-error-response';

/** Answers paths outside the API and the docs, where Express would send HTML. Call it after `app.init()`. */
export function installNotFoundHandler(app: NestExpressApplication): void {
  app.use((request: Request, response: Response) => {
    sendErrorResponse(notFound(messageFor(request.path)), request, response);
  });
  // Express identifies error handlers by their four parameters
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    sendErrorResponse(isClientError(error) ? notFound('There is nothing here') : error, request, response);
  });
}

/** Of a path where nothing is. A mailed link without its console is still good for the API. */
function messageFor(path: string): string {
  const [, page] = /^\/(accept-invitation|reset-password)\/./i.exec(path) ?? [];
  if (page === undefined)
    return `There is nothing here: the API is under ${API_PREFIX}, its documentation at /docs`;
  const call = page === 'accept-invitation' ? 'set-password' : page;
  return `The web console is off here: set the password with POST ${API_PREFIX}/auth/${call}, which takes the last part of this link`;
}

/** For example a path that Express cannot decode. */
const isClientError = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500;
