import { HttpStatus, Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { json, type RequestHandler, type Request, type Response } from 'express';
import { ApiError, badRequest } from '../errors';
import { asksForDryRun, HasDryRun } from './dry-run';
import { jsonRefusal } from './json-shape';
import { RAW_BODY_LIMIT, readRaw, takesRawBody } from './raw-body';
import { UnknownRouteController } from './unknown-route.controller';
import { trialRefusal } from './unsupported-trial';

const LIMIT = '100kb';
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const JSON_TYPE = /^\s*application\/json\s*(;|$)/i;

const parse = json({ limit: LIMIT, strict: false, type: () => true });

/** The last guard. It reads bodies: those of refused requests are not parsed, and malformed ones are rate limited. */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    // an unknown path answers 404 or 405 whatever its body is
    const isKnownRoute = context.getClass() !== UnknownRouteController;
    if (!isKnownRoute || READING.has(request.method)) return true;
    const response = http.getResponse<Response>();
    if (takesRawBody(context)) await read(readRaw, RAW_BODY_LIMIT, request, response);
    else if (WITH_BODY.has(request.method)) await readJsonBody(request, response);
    // the body of a DELETE is ignored, whatever it is, but for a wish to change nothing
    else if (hasBody(request)) await readJsonBody(request, response).catch(() => undefined);
    const hasDryRun = this.reflector.get(HasDryRun, context.getHandler()) !== undefined;
    if (hasDryRun) asksForDryRun(request);
    const refusal = trialRefusal(hasDryRun ? ['dryRun'] : [], request.query, request.body);
    if (refusal) throw refusal;
    return true;
  }
}

/**
 * Sets `request.body` to the parsed object; an empty body is an empty object.
 * @throws ApiError 400, 413 or 415
 */
export async function readJsonBody(request: Request, response: Response): Promise<void> {
  if (!hasBody(request)) {
    request.body = {};
    return;
  }
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new ApiError(HttpStatus.UNSUPPORTED_MEDIA_TYPE, 'The content type must be application/json');
  }
  await read(parse, LIMIT, request, response);
  const refusal = jsonRefusal(request.body);
  if (refusal !== null) throw badRequest(refusal);
}

/** @throws ApiError when the reader refuses the body */
async function read(
  reader: RequestHandler,
  limit: string,
  request: Request,
  response: Response,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    void reader(request, response, (error: unknown) =>
      error === undefined ? resolve() : reject(refusalOf(error, limit)),
    );
  });
}

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function refusalOf(error: unknown, limit: string): Error {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === HttpStatus.PAYLOAD_TOO_LARGE) {
    return new ApiError(status, `The body is larger than ${limit.replace('kb', ' kB').replace('mb', ' MB')}`);
  }
  if (status === HttpStatus.UNSUPPORTED_MEDIA_TYPE) {
    return new ApiError(status, 'The body’s character set or encoding is not supported');
  }
  if (status === HttpStatus.BAD_REQUEST) return badRequest('The body is not well-formed JSON');
  return error instanceof Error ? error : new Error('The body could not be read');
}
