import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { answerFailure } from './answer-failure';

/** The last stop of everything thrown while a route was looked for or ran. */
@Catch()
export class ApiErrorFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    answerFailure(exception, http.getRequest<Request>(), http.getResponse<Response>());
  }
}
