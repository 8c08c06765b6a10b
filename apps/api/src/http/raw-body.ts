import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { raw, type Request } from 'express';

export const RAW_BODY_LIMIT = '1mb';

const reflector = new Reflector();
const RawBodyMark = Reflector.createDecorator<boolean>();

/** Route decorator: keeps the body as raw bytes, whatever its content type, for signature checks. */
export const TakesRawBody = (): MethodDecorator => RawBodyMark(true);

export const takesRawBody = (context: ExecutionContext): boolean =>
  reflector.get<boolean | undefined>(RawBodyMark.KEY, context.getHandler()) ?? false;

/** Express middleware: sets `request.body` to the raw bytes. */
export const readRaw = raw({ limit: RAW_BODY_LIMIT, type: () => true });

/** Handler parameter of a `TakesRawBody` route: the raw bytes, empty without a body. */
export const RawBody = createParamDecorator((_: unknown, context: ExecutionContext): Buffer => {
  const body: unknown = context.switchToHttp().getRequest<Request>().body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
});
