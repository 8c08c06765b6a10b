import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { sendErrorResponse } from './send-error-response';

/** Handles every error thrown by routing or by a route. */
@Catch()
export class ApiErrorFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendErrorResponse(exception, http.getRequest<Request>(), http.getResponse<Response>());
  }
}
