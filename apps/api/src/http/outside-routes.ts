import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { API_PREFIX, notFound } from '../errors';
import { answerFailure } from './answer-failure';

/** Takes what lies outside the API and the docs, where Express would answer in HTML. To be called after `app.init()`. */
export function answerOutsideRoutes(app: NestExpressApplication): void {
  app.use((request: Request, response: Response) => {
    answerFailure(
      notFound(`There is nothing here: the API is under ${API_PREFIX}, its documentation at /docs`),
      request,
      response,
    );
  });
  // Express knows error handlers by their four parameters
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    answerFailure(isClientFault(error) ? notFound('There is nothing here') : error, request, response);
  });
}

/** A path Express cannot decode. */
const isClientFault = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500;
