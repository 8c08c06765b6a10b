import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { API_PREFIX, notFound } from '../errors';
import { sendErrorResponse } from './send-error-response';

/** Answers paths outside the API and the docs, where Express would send HTML. Call it after `app.init()`. */
export function installNotFoundHandler(app: NestExpressApplication): void {
  app.use((request: Request, response: Response) => {
    sendErrorResponse(
      notFound(`There is nothing here: the API is under ${API_PREFIX}, its documentation at /docs`),
      request,
      response,
    );
  });
  // Express identifies error handlers by their four parameters
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    sendErrorResponse(isClientError(error) ? notFound('There is nothing here') : error, request, response);
  });
}

/** For example a path that Express cannot decode. */
const isClientError = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500;
