import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { raw, type Request } from 'express';

export const RAW_BODY_LIMIT = '1mb';

const reflector = new Reflector();
const RawBodyMark = Reflector.createDecorator<boolean>();

/** Route: its body stays as it came, whatever its content type: a signature is made over bytes. */
export const TakesRawBody = (): MethodDecorator => RawBodyMark(true);

export const takesRawBody = (context: ExecutionContext): boolean =>
  reflector.get<boolean | undefined>(RawBodyMark.KEY, context.getHandler()) ?? false;

/** Express middleware: leaves the bytes in `request.body`. */
export const readRaw = raw({ limit: RAW_BODY_LIMIT, type: () => true });

/** Handler parameter of a route that takes its body raw: the bytes, none when there is no body. */
export const RawBody = createParamDecorator((_: unknown, context: ExecutionContext): Buffer => {
  const body: unknown = context.switchToHttp().getRequest<Request>().body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
});
